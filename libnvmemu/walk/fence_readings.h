// SPDX-License-Identifier: Apache-2.0
// What a timed load reads that waits for nothing: the fences around it, and reading the TSC.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// Of readings of one line in the nearest cache, in ticks, the mean of those that were not disturbed: up to
// twice the median. Not the least: where the TSC goes in steps (of 10 ns on a Zen 5), that is short by up to
// one, and every miss would seem to take so much longer. (Nor host/statistics.h's bound of 1.25 medians,
// which may leave out all but the lower of two steps; and nothing is allocated here.)
template <std::size_t Count>
double mean_of_undisturbed(std::array<std::uint64_t, Count> readings) noexcept {
  static_assert(Count > 0);
  constexpr std::uint64_t kDisturbedAbove = 2;
  std::ranges::sort(readings);
  const std::uint64_t most = kDisturbedAbove * readings[Count / 2];
  double sum = 0, count = 0;
  for (const std::uint64_t ticks : readings) {
    if (ticks > most) break;
    sum += static_cast<double>(ticks);
    ++count;
  }
  return sum / count;
}

}  // namespace nvmemu
