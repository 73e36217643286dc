// SPDX-License-Identifier: Apache-2.0
// Persists that nobody told of, as estimated.
#pragma once

#include <cstddef>

#include "tier/tier.h"

namespace nvmemu {

struct PersistCounts {
  double persists = 0, lines = 0;
  double delay_ns = 0;        // that they are to take longer
  double model_error_ns = 0;  // of that, what a model may be wrong by: the same in every epoch
  double variance_ns2 = 0;    // and from the number of walks: adds over epochs
  ByTier<double> busy_ns{};   // how long media are busy with them

  PersistCounts& operator+=(const PersistCounts& other) noexcept {
    persists += other.persists;
    lines += other.lines;
    delay_ns += other.delay_ns;
    model_error_ns += other.model_error_ns;
    variance_ns2 += other.variance_ns2;
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) busy_ns[tier] += other.busy_ns[tier];
    return *this;
  }
};

}  // namespace nvmemu
