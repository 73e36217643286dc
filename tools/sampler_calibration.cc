// SPDX-License-Identifier: Apache-2.0
#include "sampler_calibration.h"

#include "base/clock.h"
#include "counters/sampler/calibration/sampling_cost.h"
#include "counters/sampler/calibration/walked_chase.h"

namespace nvmemu {

void add_sampler_calibration(CalibrateOptions& options) {
  options.on_chase = [](Calibration& calibration, const void* line) {
    const Clock clock = Clock::calibrate(calibration.clock_hz);
    calibration.sample_stall_cost_ns = measure_sampling_cost(clock, line);
    const double threshold_ns = calibration.memory_threshold_ns - calibration.timing_overhead_ns;
    const WalkedChase walked = measure_walked_chase(clock, line, threshold_ns);
    calibration.walked_miss_ns = walked.miss_ns;
    calibration.native_miss_ns = walked.native_miss_ns;
    calibration.walked_step_ns = walked.step_ns;
    calibration.walk_begin_ns = walked.begin_ns;
  };
}

}  // namespace nvmemu
