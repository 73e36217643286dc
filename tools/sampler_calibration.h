// SPDX-License-Identifier: Apache-2.0
// The part of a calibration that the sampler measures itself.
#pragma once

#include "host/calibrate.h"

namespace nvmemu {

// Lets the calibration find out what sampling costs on its chase, too: 0 where it is refused.
void add_sampler_calibration(CalibrateOptions& options);

}  // namespace nvmemu
