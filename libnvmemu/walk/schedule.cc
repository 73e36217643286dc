// SPDX-License-Identifier: Apache-2.0
#include "walk/schedule.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr double kMostCreditNs = 20e6;
// What a long walk takes, in a set that it is for.
constexpr double kLongWalkNs = 1.2e6;
// Of a load that nothing is known of, one in so many disturbed ticks tells at least something.
constexpr int kDisturbedPerWalk = 8;
// A thread that is disturbed for so long is so always: that is how it runs.
constexpr int kLongDisturbed = 64;
// Of a thread that was not found waiting: as much as is left over.
constexpr double kIdleCreditNs = 14e6;

bool may_be_small_set(const Verdict& verdict) noexcept {
  return verdict.executions >= Verdict::kManyExecutions && !verdict.misses_now();
}

}  // namespace

void WalkSchedule::on_time(double ns) noexcept {
  earned_ns_ = std::min(kMostCreditNs - ahead_ns_, earned_ns_ + budget_ * ns);
}

void WalkSchedule::on_injection(double ns) noexcept {
  constexpr double kMore = 4;
  on_time(kMore * ns);
}

void WalkSchedule::on_unknown(double likely_ns) noexcept {
  constexpr double kMore = 20;
  on_time(kMore * likely_ns);
}

void WalkSchedule::on_walk(double cost_ns, unsigned steps) noexcept {
  const double paid_ns = set_up_walks_ > 0 ? std::min(cost_ns, (earned_ns_ + ahead_ns_) / 2) : cost_ns;
  const double ahead_ns = spends_ahead_ ? std::clamp(paid_ns, 0.0, ahead_ns_) : 0;
  ahead_ns_ -= ahead_ns;
  earned_ns_ -= paid_ns - ahead_ns;
  has_walked_ |= steps > 0;
  if (steps > 0 && set_up_walks_ > 0) --set_up_walks_;
}

WalkPlan WalkSchedule::at_tick(TickMoment moment, bool waits, const Verdict& verdict) noexcept {
  if (!rules_.has(Rule::kLateTicks)) moment = TickMoment::kSteady;
  WalkPlan plan = choose(moment, waits, verdict);
  plan.rules = rules_;
  plan.counts_rounds = evenly_;
  return plan;
}

bool WalkSchedule::may_spend_ahead(const Verdict& verdict) const noexcept {
  return !has_walked_ || evenly_ || !verdict.is_settled();
}

WalkPlan WalkSchedule::choose(TickMoment moment, bool waits, const Verdict& verdict) noexcept {
  if (budget_ <= 0) return {};
  spends_ahead_ = may_spend_ahead(verdict);
  disturbed_in_row_ = moment == TickMoment::kDisturbed ? disturbed_in_row_ + 1 : 0;
  if (disturbed_in_row_ > 0 && disturbed_in_row_ < kLongDisturbed) {
    const bool is_due = waits && disturbed_in_row_ % kDisturbedPerWalk == 0 && credit_ns() > 0;
    return is_due && verdict.worth == WalkWorth::kDisturbed ? kDisturbed : WalkPlan{};
  }
  if (!waits) return credit_ns() > (evenly_ ? 0 : kIdleCreditNs) ? kShort : WalkPlan{};
  if (rules_.has(Rule::kLongWalks) && may_be_small_set(verdict) && !(evenly_ && was_long_)) {
    was_long_ = credit_ns() > kLongWalkNs;
    return was_long_ ? kLong : WalkPlan{};
  }
  was_long_ = false;
  return credit_ns() > 0 ? kShort : WalkPlan{};
}

}  // namespace nvmemu
