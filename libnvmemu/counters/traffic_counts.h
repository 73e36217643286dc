// SPDX-License-Identifier: Apache-2.0
// What a thread has moved to and from memory, and what that rests on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tier/tier.h"

namespace nvmemu {

struct TierTraffic {
  double read_bytes = 0;
  double written_bytes = 0;

  // So many times the other.
  void add(const TierTraffic& other, double times = 1) {
    read_bytes += times * other.read_bytes;
    written_bytes += times * other.written_bytes;
  }
};

// Bytes of lines that went over the memory bus. A line that an ordinary store reads before it writes it
// counts as read, too; what a cache answers does not count.
struct TrafficCounts {
  double read_bytes = 0;
  double written_bytes = 0;
  ByTier<TierTraffic> tiers{};          // of these, those of tiers; the machine's own has no entry
  double extrapolated_bytes = 0;        // of both: not followed, but taken to go on as it did when it was
  std::uint64_t samples = 0;            // that were looked at,
  std::uint64_t streaming_samples = 0;  // of those, in loops that stream,
  std::uint64_t pairs = 0;              // and pairs of them that were followed, from one to the next

  double bytes() const { return read_bytes + written_bytes; }
  TrafficCounts& operator+=(const TrafficCounts& other) {
    read_bytes += other.read_bytes;
    written_bytes += other.written_bytes;
    for (std::size_t tier = 1; tier < kMostTiers; ++tier) tiers[tier].add(other.tiers[tier]);
    extrapolated_bytes += other.extrapolated_bytes;
    samples += other.samples;
    streaming_samples += other.streaming_samples;
    pairs += other.pairs;
    return *this;
  }
};

}  // namespace nvmemu
