// SPDX-License-Identifier: Apache-2.0
#include "walk/load_record.h"

#include <algorithm>

#include "base/relaxed.h"

namespace nvmemu {
namespace {

// A load that finds its line in the nearest cache.
constexpr double kNearTicks = 4;

void add_to(std::atomic<float>& sum, double value) noexcept {
  sum.store(sum.load(kRelaxed) + static_cast<float>(value), kRelaxed);
}

ByTier<float> shares_of(const ByTier<std::atomic<float>>& counts) noexcept {
  ByTier<float> shares{};
  float sum = 0;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) sum += shares[tier] = counts[tier].load(kRelaxed);
  if (sum <= 0) return Verdict::kAllTheMachines;
  for (float& share : shares) share /= sum;
  return shares;
}

}  // namespace

Verdict Verdict::with(const Verdict& usual) const noexcept {
  constexpr double kUsualCountsFor = 4;
  const double own = executions / (executions + kUsualCountsFor), others = 1 - own;
  Verdict result = *this;
  result.share = own * share + others * usual.share;
  result.variance = own * own * variance + others * others * usual.variance;
  if (misses > 0) return result;
  result.miss_ns = usual.miss_ns;
  result.of_tier = usual.of_tier;
  return result;
}

double LoadRecord::readings() const noexcept { return misses_.load(kRelaxed) + hits_.load(kRelaxed); }

void LoadRecord::fade(float by) noexcept {
  for (auto* sum : {&walks_, &spans_, &executions_, &hits_, &hit_ticks_, &misses_, &miss_ticks_, &again_,
                    &again_ticks_}) {
    sum->store(sum->load(kRelaxed) * by, kRelaxed);
  }
  for (auto& sum : tier_misses_) sum.store(sum.load(kRelaxed) * by, kRelaxed);
}

bool LoadRecord::misses_in_last_walk() const noexcept {
  const double misses = now_misses_.load(kRelaxed);
  return Verdict::mostly(misses, misses + now_hits_.load(kRelaxed));
}

bool LoadRecord::accepts(WalkWorth worth) noexcept {
  const WalkWorth known = worth_.load(kRelaxed);
  if (worth == known) return true;
  const bool is_large_set = Verdict::mostly(misses_.load(kRelaxed), readings());
  if (worth < known) {
    if (worth != WalkWorth::kShort) return false;
    if (is_large_set) return true;
    // Of a few executions a long walk has said little, and short ones come next (schedule.cc): without them
    // it would stay at that, though the program may have gone on to other memory since.
    if (executions_.load(kRelaxed) >= Verdict::kManyExecutions) return false;
  }
  if (known == WalkWorth::kShort && is_large_set && misses_in_last_walk()) return true;
  fade(0);
  worth_.store(worth, kRelaxed);
  return true;
}

// A walk sees one moment, and stands for the time since the last. At first there is one at each tick, and
// then one in a while: the first of these stands for more than all the others together. Of what they have
// read as much is kept as is their part, but never too little to go by. A program comes by a load now sooner
// and now later: it is several times as long that tells of another time.
void LoadRecord::weigh_by_time(const WalkInfo& walk) noexcept {
  constexpr double kEnoughReadings = 128;
  constexpr float kTimes = 2;
  const auto since = static_cast<float>(walk.at - last_at_.exchange(walk.at, kRelaxed));
  const float walks = walks_.load(kRelaxed);
  if (walks == 0) return;
  if (spans_.load(kRelaxed) == 0) spans_.store(since * walks, kRelaxed);
  const float usual = spans_.load(kRelaxed) / walks;
  if (walk.forgets && since > kTimes * usual && readings() > kEnoughReadings)
    fade(std::max(kTimes * usual / since, static_cast<float>(kEnoughReadings / readings())));
  add_to(spans_, since);
}

// One walk sees one moment, so it is walks that are forgotten.
void LoadRecord::begin_walk(const WalkInfo& walk) noexcept {
  constexpr float kMostWalks = 12;
  constexpr double kManyReadings = 512;
  constexpr float kManyExecutions = 1 << 16;
  last_walk_.store(walk.number, kRelaxed);
  weigh_by_time(walk);
  if (walk.forgets && walks_.load(kRelaxed) >= kMostWalks &&
      (readings() > kManyReadings || executions_.load(kRelaxed) > kManyExecutions)) {
    fade(0.5f);
  }
  add_to(walks_, 1);
  now_hits_.store(0, kRelaxed);
  now_misses_.store(0, kRelaxed);
}

void LoadRecord::add(double first_ticks, double again_ticks, const WalkInfo& walk, const WalkScale& scale,
                     TierId tier) noexcept {
  if (std::max(first_ticks, again_ticks) > scale.longest_ticks) return;
  if (!accepts(walk.worth)) return;
  if (walks_.load(kRelaxed) == 0 || last_walk_.load(kRelaxed) != walk.number) begin_walk(walk);
  add_to(executions_, 1);
  if (first_ticks > scale.threshold_ticks) {
    add_to(misses_, 1);
    add_to(tier_misses_[tier], 1);
    add_to(now_misses_, 1);
    add_to(miss_ticks_, scale.waited_ticks(first_ticks));
  } else if (first_ticks > 0) {
    add_to(hits_, 1);
    add_to(now_hits_, 1);
    add_to(hit_ticks_, scale.waited_ticks(first_ticks));
  } else if (again_ticks > 0) {
    add_to(again_, 1);
    add_to(again_ticks_, std::max(kNearTicks, scale.waited_ticks(again_ticks)));
  }
}

// Each load takes what it reads; and one that is no first touch, what those do of which some are timed.
Verdict LoadRecord::verdict(const WalkScale& scale) const noexcept {
  // Readings of one walk come from one moment.
  constexpr double kReadingsPerIndependent = 4;
  constexpr double kIndependentPerWalk = 8;
  constexpr double kManyAtOnce = 64;
  constexpr double kUnseen = 0.5;
  Verdict result;
  result.executions = executions_.load(kRelaxed);
  result.worth = worth_.load(kRelaxed);
  result.walks = walks_.load(kRelaxed);
  result.misses = misses_.load(kRelaxed);
  result.readings = readings();
  const double now_misses = now_misses_.load(kRelaxed);
  const double now_readings = now_misses + now_hits_.load(kRelaxed);
  if (now_readings >= kManyAtOnce) result.last_missed = now_misses / now_readings;
  const double miss_ticks = miss_ticks_.load(kRelaxed);
  const double again = again_.load(kRelaxed);
  const double again_ticks = (again_ticks_.load(kRelaxed) + kNearTicks) / (again + 1);
  const double other_ticks =
      hit_ticks_.load(kRelaxed) + again_ticks * std::max(0.0, result.executions - result.readings);
  if (miss_ticks + other_ticks > 0) result.share = miss_ticks / (miss_ticks + other_ticks);
  const double independent =
      std::min(std::max(result.readings / kReadingsPerIndependent, std::min(result.readings, result.walks)),
               kIndependentPerWalk * result.walks);
  // Readings that all said the same may be too few to have met the other: half a one more stands for it.
  const double likely = (result.share * independent + kUnseen) / (independent + 2 * kUnseen);
  result.variance = likely * (1 - likely) / (1 + independent);
  if (result.misses > 0) {
    result.miss_ns = scale.ns(miss_ticks / result.misses);
    result.of_tier = shares_of(tier_misses_);
  }
  return result;
}

}  // namespace nvmemu
