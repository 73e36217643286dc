// SPDX-License-Identifier: Apache-2.0
#include "sampler_calibration.h"

#include "base/clock.h"
#include "counters/sampler/calibration/sampling_cost.h"

namespace nvmemu {

void add_sampler_calibration(CalibrateOptions& options) {
  options.on_chase = [](Calibration& calibration, const void* line) {
    const Clock clock = Clock::calibrate(calibration.clock_hz);
    calibration.sample_stall_cost_ns = measure_sampling_cost(clock, line);
  };
}

}  // namespace nvmemu
