// SPDX-License-Identifier: Apache-2.0
// The part of a calibration that the sampler measures itself.
#pragma once

#include "host/calibrate.h"

namespace nvmemu {

// Lets the calibration find out what sampling and probes cost and read on its chases, too. What is refused
// stays 0.
void add_sampler_calibration(CalibrateOptions& options);

}  // namespace nvmemu
