// SPDX-License-Identifier: Apache-2.0
// What was counted between two readings of a group. Pure functions: thread- and async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "counters/pmu/event_group.h"

namespace nvmemu {

struct GroupDelta {
  std::array<double, GroupReading::kMostEvents> counts{};  // of the whole time: scaled up where part was seen
  double counted_share = 0;  // of the time, what the group was on counters; 0: nothing is known of it
};

// The kernel counts up; what seems to have gone back, by a reading of times and counts that do not belong
// together, is 0.
inline std::uint64_t risen(std::uint64_t before, std::uint64_t after) noexcept {
  return static_cast<std::int64_t>(after - before) > 0 ? after - before : 0;
}

inline GroupDelta between(const GroupReading& before, const GroupReading& after) noexcept {
  const auto enabled_ns = static_cast<double>(risen(before.enabled_ns, after.enabled_ns));
  const auto running_ns = static_cast<double>(risen(before.running_ns, after.running_ns));
  GroupDelta delta;
  if (running_ns <= 0) return delta;
  const bool throughout = running_ns >= enabled_ns;
  delta.counted_share = throughout ? 1 : running_ns / enabled_ns;
  for (std::size_t i = 0; i < delta.counts.size(); ++i)
    delta.counts[i] = static_cast<double>(risen(before.counts[i], after.counts[i])) / delta.counted_share;
  return delta;
}

// `start`, moved on by what passed between `from` and `to`, so that it falls out of what is counted since.
inline void leave_out(GroupReading& start, const GroupReading& from, const GroupReading& to) noexcept {
  start.enabled_ns += to.enabled_ns - from.enabled_ns;
  start.running_ns += to.running_ns - from.running_ns;
  for (std::size_t i = 0; i < start.counts.size(); ++i) start.counts[i] += to.counts[i] - from.counts[i];
}

}  // namespace nvmemu
