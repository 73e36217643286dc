// SPDX-License-Identifier: Apache-2.0
// How many of a chase's loads miss, where most of them hit a cache.
#pragma once

#include <cstdint>
#include <span>

#include "base/clock.h"
#include "workloads/chase.h"

namespace nvmemu::workloads {

struct MissCount {
  std::uint64_t loads = 0;   // seen: not those that something else interrupted
  std::uint64_t misses = 0;  // of these
};

// Steps a state of one chain on and times it, kLoadsTimedTogether steps at a time: each reading counts one
// miss for every `miss_ns` (> 0, ns) that it is above the median of kReadingsCompared in a row, rounded.
// Timing single loads would make the chase several times slower, and lines that wait longer for their turn
// are evicted more often. One that is above it by more than all its loads could be is no reading. Counts
// nothing right where most loads miss: the median is then of misses. Makes `loads` steps, less what does not
// fill a comparison.
inline constexpr unsigned kLoadsTimedTogether = 16;
inline constexpr unsigned kReadingsCompared = 4096;
MissCount count_misses(ChaseState& state, std::uint64_t loads, double miss_ns, const Clock& clock);

// What one comparison counts: of `readings`, in ticks, at least one. Puts them in another order.
MissCount misses_among(std::span<std::uint64_t> readings, double miss_ticks);

}  // namespace nvmemu::workloads
