// SPDX-License-Identifier: Apache-2.0
// Figures as people read them, by what they are of.
#pragma once

#include <cstdint>
#include <string>

namespace nvmemu::pmbench {

enum class Unit : std::uint8_t { kPerSecond, kNanoseconds, kCount, kShare, kSmallShare };

// "812345", "1.2 us", "12.3 %", "0.45 %".
std::string format_figure(double value, Unit unit);

// Likewise, of half the width of a confidence interval, which is never "0": "<1", "<0.1 %".
std::string format_half_width(double value, Unit unit);

}  // namespace nvmemu::pmbench
