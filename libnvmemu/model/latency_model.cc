// SPDX-License-Identifier: Apache-2.0
#include "model/latency_model.h"

namespace nvmemu {

double stall_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  if (latency.base_ns <= 0 || latency.target_ns <= latency.base_ns || counts.memory_stall_ns <= 0) return 0;
  return counts.memory_stall_ns / latency.base_ns * (latency.target_ns - latency.base_ns);
}

}  // namespace nvmemu
