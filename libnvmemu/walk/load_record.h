// SPDX-License-Identifier: Apache-2.0
// What walks have seen of one load instruction, and what they say of it. Any thread of the processes that
// share it; an update that another's overwrites is a reading less. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace nvmemu {

// How readings in TSC ticks are told apart.
struct WalkScale {
  double ns_per_tick = 0;
  double fence_ticks = 0;      // what a timed load reads that waits for nothing
  double threshold_ticks = 0;  // above it, it came from memory
  double longest_ticks = 0;    // above it, it was interrupted

  double ns(double ticks) const noexcept { return ticks * ns_per_tick; }
};

struct Verdict {
  double share = 0;     // of the load's time, what waits for memory
  double variance = 0;  // of that
  double miss_ns = 0;   // what a load from memory takes; 0: there has been none
  double misses = 0;    // that this rests on,
  double readings = 0;  // first touches, misses included,
  double executions = 0;

  bool is_known() const noexcept {
    constexpr double kFewExecutions = 20;
    return executions >= kFewExecutions;
  }
};

class LoadRecord {
 public:
  // One more execution; what it read, each 0 where nothing was timed: `first_ticks` if it was a line's first
  // touch in its walk, `again_ticks` if a later one. A short walk sees lines for the first time since the
  // tick, which has displaced some of a small set: from the first long one on, only those count.
  void add(double first_ticks, double again_ticks, bool in_long_walk, const WalkScale& scale) noexcept;
  Verdict verdict(const WalkScale& scale) const noexcept;

 private:
  void fade(float by) noexcept;

  // The past counts by half, each time there has been so much.
  std::atomic<float> executions_, hits_, hit_ticks_, misses_, miss_ticks_, again_, again_ticks_;
  std::atomic<bool> from_long_walks_;
};

}  // namespace nvmemu
