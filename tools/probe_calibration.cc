// SPDX-License-Identifier: Apache-2.0
#include "probe_calibration.h"

#include "base/clock.h"
#include "counters/sampler/probe_latency.h"
#include "counters/sampler/sampling_cost.h"

namespace nvmemu {

void measure_probes(Calibration& calibration, const void* line) {
  const Clock clock = Clock::calibrate(calibration.clock_hz);
  calibration.sample_stall_cost_ns = measure_sampling_cost(clock, line);
  if (calibration.trap_cost_ns <= 0 || calibration.probe_threshold_ns <= 0) return;
  const ProbeScale scale{.overhead_ns = calibration.probe_overhead_ns,
                         .threshold_ns = calibration.probe_threshold_ns,
                         .readings_to_latency = 0,
                         .trap_cost_ns = calibration.trap_cost_ns};
  calibration.probe_latency_ns = measure_probe_latency(clock, scale, line);
}

}  // namespace nvmemu
