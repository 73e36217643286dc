// SPDX-License-Identifier: Apache-2.0
// What a model of the core says of the misses that a walk has passed: which wait for one another.
#pragma once

#include <algorithm>
#include <cstddef>

#include "tier/tier.h"

namespace nvmemu {

struct WalkOverlap {
  double plain_ns = 0;       // how much longer it would take on the emulated memory, going by stalls alone,
  double longer_ns = 0;      // and with all that is hidden of misses, and waited for together
  double misses = 0;         // 0: nothing is known
  double in_a_row = 0;       // of those: how many are waited for, one after another
  ByTier<double> of_tier{};  // the misses

  // With what earlier walks said, of which so much is kept.
  void add(const WalkOverlap& walk, double kept) noexcept {
    plain_ns = kept * plain_ns + walk.plain_ns;
    longer_ns = kept * longer_ns + walk.longer_ns;
    misses = kept * misses + walk.misses;
    in_a_row = kept * in_a_row + walk.in_a_row;
    for (std::size_t tier = 0; tier < kMostTiers; ++tier)
      of_tier[tier] = kept * of_tier[tier] + walk.of_tier[tier];
  }

  // How many are waited for together, in the mean: 1 or more, however much of each is hidden.
  double at_a_time() const noexcept {
    if (misses <= 0 || in_a_row <= 0 || plain_ns <= 0) return 1;
    return std::max(1.0, misses / (in_a_row * std::max(1.0, longer_ns / plain_ns)));
  }

  // 0 where each miss waits for another, 1 where each waits together with another at least.
  double together() const noexcept {
    return misses > 0 ? std::clamp(2 * (1 - in_a_row / misses), 0.0, 1.0) : 0;
  }
};

}  // namespace nvmemu
