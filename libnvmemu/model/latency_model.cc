// SPDX-License-Identifier: Apache-2.0
#include "model/latency_model.h"

namespace nvmemu {

double stall_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  if (latency.base_ns <= 0 || latency.target_ns <= latency.base_ns || counts.memory_stall_ns <= 0) return 0;
  const double miss_ns = counts.miss_latency_ns > 0 ? counts.miss_latency_ns : latency.base_ns;
  return counts.memory_stall_ns / miss_ns * (latency.target_ns - latency.base_ns);
}

}  // namespace nvmemu
