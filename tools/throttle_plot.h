// SPDX-License-Identifier: Apache-2.0
// Curves as a picture.
#pragma once

#include <string>

#include "base/result.h"
#include "throttle/curve.h"

namespace nvmemu {

// Bandwidth over the registers' value, as figure 3 of the NVMpro paper (ICPE 2015): the points and the
// straight line of each node. Through gnuplot; fails, with how to get it, where it is not installed.
Result<void> plot_curves(const Curves& curves, const std::string& svg_path);

}  // namespace nvmemu
