// SPDX-License-Identifier: Apache-2.0
// The part of a calibration that the sampler measures itself.
#pragma once

#include "host/calibration.h"

namespace nvmemu {

// Fills in what sampling and probes cost and read on the calibration's chase, along `line`'s cycle. What is
// refused stays 0.
void measure_probes(Calibration& calibration, const void* line);

}  // namespace nvmemu
