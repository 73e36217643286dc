// SPDX-License-Identifier: Apache-2.0
// What walks have seen of one load instruction, and what they say of it. Any thread of the processes that
// share it; an update that another's overwrites is a reading less. Async-signal-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "tier/tier.h"

namespace nvmemu {

// How readings in TSC ticks are told apart.
struct WalkScale {
  double ns_per_tick = 0;
  double fence_ticks = 0;      // what a timed load reads that waits for nothing
  double threshold_ticks = 0;  // above it, it came from memory
  double longest_ticks = 0;    // above it, it was interrupted

  double ns(double ticks) const noexcept { return ticks * ns_per_tick; }
  // Of what a timed load reads, what it waited for.
  double waited_ticks(double ticks) const noexcept { return std::max(0.0, ticks - fence_ticks); }
};

// What a walk's readings are worth, in rising order: each better kind's replace what worse ones have said.
enum class WalkWorth : std::uint8_t {
  kDisturbed,  // soon after the thread was away, or held up by a delay: what it had cached has been replaced
  kShort,      // lines are seen for the first time since the tick, which has displaced some of a small set
  kLong,       // lines of a small set have been seen before in the same walk
};

struct Verdict {
  static constexpr double kSmallPart = 0.3;
  static constexpr double kManyExecutions = 200;  // enough to tell a small set by
  static constexpr ByTier<float> kAllTheMachines{1};

  double share = 0;     // of the load's time, what waits for memory
  double variance = 0;  // of that
  double miss_ns = 0;   // what a load from memory takes; 0: there has been none
  // Of the loads from memory, how many were of each tier's: 1 in all.
  ByTier<float> of_tier = kAllTheMachines;
  double misses = 0;    // that this rests on,
  double readings = 0;  // first touches, misses included,
  double walks = 0;     // in which these were made,
  double executions = 0;
  WalkWorth worth = WalkWorth::kDisturbed;

  double last_missed = 1;  // of the lines of the last walk that read some, how many were in memory

  // A large set's load: of its lines, at least some were in memory.
  static constexpr bool mostly(double misses, double readings) noexcept {
    return misses > kSmallPart * readings;
  }
  bool mostly_misses() const noexcept { return mostly(misses, readings); }
  // And they still are.
  bool misses_now() const noexcept { return mostly_misses() && last_missed > kSmallPart; }
  // Where there are few executions to go by: these, and what is `usual`, which counts for some of them.
  Verdict with(const Verdict& usual) const noexcept;
  bool is_known() const noexcept {
    constexpr double kFewExecutions = 20;
    return executions >= kFewExecutions;
  }
  // Another walk would hardly change it.
  bool is_settled() const noexcept {
    constexpr double kWithin = 0.05;  // one standard deviation of the share
    return is_known() && worth != WalkWorth::kDisturbed && variance <= kWithin * kWithin;
  }
};

// One walk, to the records of the loads that it passes.
struct WalkInfo {
  std::uint32_t number = 0;  // tells it from others
  std::uint32_t at = 0;      // when it was, in any unit: differences count, whatever it has passed meanwhile
  WalkWorth worth = WalkWorth::kShort;
  bool forgets = true;  // earlier walks, when there have been enough, or it stands for more time than they
};

// Zeros are a valid state: nothing is known.
class LoadRecord {
 public:
  // One more execution; what it read, each 0 where nothing was timed: `first_ticks` if it was a line's first
  // touch in its walk, `again_ticks` if a later one. What is worth less than what is known already does not
  // count, but that of a large set short walks and long ones tell the same. `tier`: of the line.
  void add(double first_ticks, double again_ticks, const WalkInfo& walk, const WalkScale& scale,
           TierId tier = 0) noexcept;
  Verdict verdict(const WalkScale& scale) const noexcept;

 private:
  bool accepts(WalkWorth worth) noexcept;
  void begin_walk(const WalkInfo& walk) noexcept;
  void weigh_by_time(const WalkInfo& walk) noexcept;
  void fade(float by) noexcept;
  double readings() const noexcept;
  bool misses_in_last_walk() const noexcept;

  // The past counts by half, each time there has been so much.
  std::atomic<float> walks_, executions_, hits_, hit_ticks_, misses_, miss_ticks_, again_, again_ticks_;
  ByTier<std::atomic<float>> tier_misses_;    // of the misses
  std::atomic<float> now_hits_, now_misses_;  // of the last walk
  std::atomic<std::uint32_t> last_walk_, last_at_;
  std::atomic<float> spans_;  // time between walks, over so many walks
  std::atomic<WalkWorth> worth_;
};

}  // namespace nvmemu
