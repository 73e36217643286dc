// SPDX-License-Identifier: Apache-2.0
// What hardware counters tell of an epoch's loads, beside stall time, and which of it a source counts.
#pragma once

#include <cstdint>

namespace nvmemu {

struct LoadCounts {
  double hits = 0;    // loads that the last-level cache answered
  double misses = 0;  // loads that memory answered,
  double local = 0;   // of those, memory of the thread's own node,
  double remote = 0;  // and of another's
  double cache_stall_ns =
      0;                // stall time of loads that missed the caches before the last: of hits and misses
  double episodes = 0;  // uninterrupted waits for memory, however many misses were under way in each
};

// What a source counts, in bits: a count that is not in the set is 0 because nobody counted, and tells
// nothing.
using CountSet = std::uint32_t;
inline constexpr CountSet kCountsStall = 1U << 0;  // Quantities::stall_ns
inline constexpr CountSet kCountsHits = 1U << 1;   // the members of LoadCounts
inline constexpr CountSet kCountsMisses = 1U << 2;
inline constexpr CountSet kCountsNodes = 1U << 3;  // local and remote
inline constexpr CountSet kCountsCacheStall = 1U << 4;
inline constexpr CountSet kCountsEpisodes = 1U << 5;
inline constexpr CountSet kAllCounts = (1U << 6) - 1;

// The sampler sees how long a thread waits for memory, and not how often.
inline constexpr CountSet kSamplerCounts = kCountsStall;
// And what it waits at: in no source's set, for only the sampler has it.
inline constexpr CountSet kCountsSamples = 1U << 31;

// Whether a source with `counts` tells what needs `needs`.
constexpr bool is_told(CountSet needs, CountSet counts) {
  const CountSet all = counts == kSamplerCounts ? counts | kCountsSamples : counts;
  return (needs & ~all) == 0;
}

}  // namespace nvmemu
