// SPDX-License-Identifier: Apache-2.0
#include "suite/cache_as_memory.h"

namespace nvmemu::suite {

Calibration cache_as_memory(const Calibration& calibration, double cache_ns) {
  Calibration shifted = calibration;
  shifted.base_latency_ns = cache_ns;
  shifted.cache_latency_ns = 0;
  shifted.memory_threshold_ns = calibration.timing_overhead_ns + cache_ns / 2;
  shifted.sample_stall_cost_ns = calibration.sample_cost_ns;
  return shifted;
}

}  // namespace nvmemu::suite
