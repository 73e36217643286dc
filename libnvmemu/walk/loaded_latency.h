// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

namespace nvmemu {

// Memory that has more to do takes longer for each access (its loaded latency), and walks time one load at a
// time. How much longer, as calibration has it of so many at a time; in between, in proportion. Beyond, it
// is not known, and taken for as much.
struct LoadedLatency {
  static constexpr double kMisses = 12;

  double ratio = 0;  // natively to as walked; 0: not known

  // What each takes of so many (1 or more) at a time, of what one takes alone.
  double of(double at_a_time) const noexcept {
    if (ratio <= 0) return 1;
    constexpr double kLeast = 0.5, kMost = 2;  // beyond is no memory's
    const double part = std::min(1.0, (at_a_time - 1) / (kMisses - 1));
    return 1 + part * (std::clamp(ratio, kLeast, kMost) - 1);
  }
};

}  // namespace nvmemu
