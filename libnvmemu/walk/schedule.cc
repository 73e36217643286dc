// SPDX-License-Identifier: Apache-2.0
#include "walk/schedule.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr double kMostCreditNs = 20e6;
// What a long walk takes, in a set that it is for.
constexpr double kLongWalkNs = 1.2e6;
// A thread that is late at each tick sleeps in between: that is how it runs.
constexpr int kMostLateInRow = 8;
// Of a thread that was not found waiting: as much as is left over.
constexpr double kIdleCreditNs = 4e6;

bool may_be_small_set(const Verdict& verdict) noexcept {
  constexpr double kFewExecutions = 200;
  constexpr double kSmallPart = 0.3;  // of its lines
  return verdict.executions >= kFewExecutions && verdict.misses <= kSmallPart * verdict.readings;
}

}  // namespace

void WalkSchedule::on_time(double ns) noexcept {
  credit_ns_ = std::min(kMostCreditNs, credit_ns_ + budget_ * ns);
}

WalkPlan WalkSchedule::at_tick(bool late, bool waits, const Verdict& verdict) noexcept {
  if (budget_ <= 0) return {};
  late_in_row_ = late ? late_in_row_ + 1 : 0;
  if (late && late_in_row_ < kMostLateInRow) return {};
  late_in_row_ = 0;
  if (!waits) return credit_ns_ > kIdleCreditNs ? kShort : WalkPlan{};
  if (may_be_small_set(verdict)) return credit_ns_ > kLongWalkNs ? kLong : WalkPlan{};
  return credit_ns_ > 0 ? kShort : WalkPlan{};
}

}  // namespace nvmemu
