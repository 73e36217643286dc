// SPDX-License-Identifier: Apache-2.0
// Of all walks of a run: what they have passed, and what ended them. In memory that its processes share,
// zeroed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "walk/walk_passed.h"
#include "walk/walk_stop.h"

namespace nvmemu {

struct WalkTally {
  std::atomic<std::uint64_t> walks;
  std::array<std::atomic<std::uint64_t>, kPassedKinds> passed;
  std::array<std::atomic<std::uint64_t>, kWalkStops> stops;  // kNone: they went as far as they were to

  void add(const WalkPassed& walk, WalkStop stop) noexcept {
    walks.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < kPassedKinds; ++i) {
      if (walk.counts[i] != 0) passed[i].fetch_add(walk.counts[i], std::memory_order_relaxed);
    }
    stops[static_cast<std::size_t>(stop)].fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace nvmemu
