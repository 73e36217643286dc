// SPDX-License-Identifier: Apache-2.0
// What no error bar goes below, whatever it is of.
#pragma once

#include <cstdint>

namespace nvmemu {

// Below so many samples, their variance is no measure of how far they may be off.
inline constexpr std::uint64_t kFewSamples = 30;

// Relative. Calibrations that come out alike are not exact for it: their clock is not, nor what the model
// leaves out; and that does not average out over runs.
inline constexpr double kLeastError = 0.005;

}  // namespace nvmemu
