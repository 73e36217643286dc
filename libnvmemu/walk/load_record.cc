// SPDX-License-Identifier: Apache-2.0
#include "walk/load_record.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// A load that finds its line in the nearest cache.
constexpr double kNearTicks = 4;

void add_to(std::atomic<float>& sum, double value) noexcept {
  sum.store(sum.load(kRelaxed) + static_cast<float>(value), kRelaxed);
}

}  // namespace

void LoadRecord::fade(float by) noexcept {
  for (auto* sum : {&executions_, &hits_, &hit_ticks_, &misses_, &miss_ticks_, &again_, &again_ticks_})
    sum->store(sum->load(kRelaxed) * by, kRelaxed);
}

void LoadRecord::add(double first_ticks, double again_ticks, bool in_long_walk,
                     const WalkScale& scale) noexcept {
  constexpr float kMostReadings = 8192;
  constexpr float kMostExecutions = 1 << 18;
  if (std::max(first_ticks, again_ticks) > scale.longest_ticks) return;
  if (from_long_walks_.load(kRelaxed) != in_long_walk) {
    if (!in_long_walk) return;
    fade(0);
    from_long_walks_.store(true, kRelaxed);
  }
  add_to(executions_, 1);
  if (first_ticks > scale.threshold_ticks) {
    add_to(misses_, 1);
    add_to(miss_ticks_, first_ticks - scale.fence_ticks);
  } else if (first_ticks > 0) {
    add_to(hits_, 1);
    add_to(hit_ticks_, std::max(0.0, first_ticks - scale.fence_ticks));
  } else if (again_ticks > 0) {
    add_to(again_, 1);
    add_to(again_ticks_, std::max(kNearTicks, again_ticks - scale.fence_ticks));
  }
  if (misses_.load(kRelaxed) + hits_.load(kRelaxed) > kMostReadings ||
      executions_.load(kRelaxed) > kMostExecutions) {
    fade(0.5f);
  }
}

// Each load takes what it reads; and one that is no first touch, what those do of which some are timed.
Verdict LoadRecord::verdict(const WalkScale& scale) const noexcept {
  // Readings of one walk come from one moment.
  constexpr double kReadingsPerIndependent = 4;
  Verdict result;
  result.executions = executions_.load(kRelaxed);
  result.misses = misses_.load(kRelaxed);
  result.readings = result.misses + hits_.load(kRelaxed);
  const double miss_ticks = miss_ticks_.load(kRelaxed);
  const double again = again_.load(kRelaxed);
  const double again_ticks = (again_ticks_.load(kRelaxed) + kNearTicks) / (again + 1);
  const double other_ticks =
      hit_ticks_.load(kRelaxed) + again_ticks * std::max(0.0, result.executions - result.readings);
  if (miss_ticks + other_ticks > 0) result.share = miss_ticks / (miss_ticks + other_ticks);
  result.variance = result.share * (1 - result.share) / (1 + result.readings / kReadingsPerIndependent);
  if (result.misses > 0) result.miss_ns = scale.ns(miss_ticks / result.misses);
  return result;
}

}  // namespace nvmemu
