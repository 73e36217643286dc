// SPDX-License-Identifier: Apache-2.0
// The part of a calibration that the sampler measures itself.
#pragma once

#include "host/calibrate.h"

namespace nvmemu {

// Lets the calibration find out what sampling and walks cost on its chase, too, and what walks take its loads
// for: 0 where these are refused.
void add_sampler_calibration(CalibrateOptions& options);

}  // namespace nvmemu
