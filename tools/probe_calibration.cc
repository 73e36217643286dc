// SPDX-License-Identifier: Apache-2.0
#include "probe_calibration.h"

#include "base/clock.h"
#include "counters/sampler/known_probes.h"
#include "counters/sampler/sampling_cost.h"

namespace nvmemu {
namespace {

// `next_to_natural`: see ProbeScale.
KnownProbes probe(const Calibration& calibration, const Clock& clock, const void* line, BurstKind kind,
                  double next_to_natural = 0) {
  if (calibration.trap_cost_ns <= 0 || calibration.probe_threshold_ns <= 0) return {};
  const ProbeScale scale{.overhead_ns = calibration.probe_overhead_ns,
                         .threshold_ns = calibration.probe_threshold_ns,
                         .readings_to_latency = 0,
                         .next_to_natural = next_to_natural,
                         .trap_cost_ns = calibration.trap_cost_ns};
  return probe_known_chase(clock, scale, line, kind);
}

void measure_on_cached_chase(Calibration& calibration, const void* line) {
  const ProbeSums sums =
      probe(calibration, Clock::calibrate(calibration.clock_hz), line, BurstKind::kShare).sums;
  if (sums.readings > 0) calibration.probe_disturbed_share = sums.from_memory / sums.readings;
}

void measure_on_chase(Calibration& calibration, const void* line) {
  const Clock clock = Clock::calibrate(calibration.clock_hz);
  calibration.sample_stall_cost_ns = measure_sampling_cost(clock, line);
  const auto [sums, chase_ns] = probe(calibration, clock, line, BurstKind::kNatural);
  if (sums.from_memory <= 0) return;
  calibration.probe_latency_ns = sums.memory_ns / sums.from_memory;
  calibration.probed_latency_ns = chase_ns * (1 - calibration.sample_stall_cost_ns / kSamplePeriodNs);
  const ProbeSums next = probe(calibration, clock, line, BurstKind::kNatural, 1).sums;
  if (next.from_memory > 0) calibration.probe_next_latency_ns = next.memory_ns / next.from_memory;
}

}  // namespace

void add_sampler_calibration(CalibrateOptions& options) {
  options.on_cached_chase = measure_on_cached_chase;
  options.on_chase = measure_on_chase;
}

}  // namespace nvmemu
