// SPDX-License-Identifier: Apache-2.0
#include "probe_calibration.h"

#include "base/clock.h"
#include "counters/sampler/calibration/known_probes.h"
#include "counters/sampler/calibration/sampling_cost.h"

namespace nvmemu {
namespace {

bool can_probe(const Calibration& calibration) {
  return calibration.trap_cost_ns > 0 && calibration.probe_threshold_ns > 0;
}

ProbeScale scale_of(const Calibration& calibration) {
  return {.overhead_ns = calibration.probe_overhead_ns,
          .threshold_ns = calibration.probe_threshold_ns,
          .trap_cost_ns = calibration.trap_cost_ns};
}

void measure_on_cached_chase(Calibration& calibration, const void* line) {
  if (!can_probe(calibration)) return;
  const Clock clock = Clock::calibrate(calibration.clock_hz);
  const ProbeSums sums = probe_cached_chase(clock, scale_of(calibration), line);
  // Jeffreys' estimate of a share: never 0, which says that it was not measured.
  if (sums.readings > 0) calibration.probe_disturbed_share = (sums.from_memory + 0.5) / (sums.readings + 1);
}

void measure_on_chase(Calibration& calibration, const ChasePlaces& places) {
  const Clock clock = Clock::calibrate(calibration.clock_hz);
  calibration.sample_stall_cost_ns = measure_sampling_cost(clock, places.alone);
  if (!can_probe(calibration)) return;
  const KnownLatencies known = probe_chase(clock, scale_of(calibration), places);
  const double unsampled = 1 - calibration.sample_stall_cost_ns / kSamplePeriodNs;
  calibration.probe_latency_ns = known.probed_ns;
  calibration.probe_next_latency_ns = known.probed_next_ns;
  calibration.probed_latency_ns = known.chase_ns * unsampled;
  calibration.probe_overlapped_latency_ns = known.probed_together_ns;
  calibration.probed_overlapped_latency_ns = known.together_ns * unsampled;
}

}  // namespace

void add_sampler_calibration(CalibrateOptions& options) {
  options.on_cached_chase = measure_on_cached_chase;
  options.on_chase = measure_on_chase;
}

}  // namespace nvmemu
