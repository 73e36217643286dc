// SPDX-License-Identifier: Apache-2.0
// What a mistyped variable would otherwise do in silence: nothing.
#pragma once

#include <string>
#include <vector>

namespace nvmemu {

// A sentence on each variable of the environment that begins with NVMEMU_, is not empty and means nothing,
// with the one that may have been meant. Not signal-safe.
std::vector<std::string> unknown_variables();

}  // namespace nvmemu
