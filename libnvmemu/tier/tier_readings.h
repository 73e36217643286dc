// SPDX-License-Identifier: Apache-2.0
// Of which tier walks have found what was waited for: so many readings, as several measurements, whose
// scatter tells how sure a tier's share is. In memory that a run's processes share; zeros are a valid state.
// Any number of threads at a time, none of which waits; async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/relaxed.h"
#include "base/share_error.h"
#include "tier/tier_map.h"

namespace nvmemu {

struct TierReadings {
  static constexpr std::size_t kParts = kMostMeasurements;

  ByTier<std::array<std::atomic<std::uint64_t>, kParts>> waited;  // weights, by every eighth sample
  ByTier<std::atomic<std::uint64_t>> readings;                    // that these are the weights of
  std::atomic<std::uint64_t> samples;

  // A sample that weighs so much, and the addresses that it waits for.
  void add(const TierMap& map, std::span<const std::uintptr_t> misses, std::uint32_t weight) noexcept {
    if (misses.empty()) return;
    const std::size_t part = samples.fetch_add(1, kRelaxed) % kParts;
    for (const std::uintptr_t address : misses) {
      const TierId tier = map.tier_of(address);
      waited[tier][part].fetch_add(weight / misses.size(), kRelaxed);
      readings[tier].fetch_add(1, kRelaxed);
    }
  }
};

}  // namespace nvmemu
