// SPDX-License-Identifier: Apache-2.0
// At which ticks a thread is walked ahead of, and how far. Pure; one thread's.
#pragma once

#include <cstdint>

#include "walk/load_record.h"
#include "walk/rules.h"

namespace nvmemu {

struct WalkPlan {
  unsigned steps = 0;    // 0: no walk
  unsigned warm_up = 0;  // of those, the first, which bring a small set back and tell nothing
  WalkWorth worth = WalkWorth::kShort;
  // It goes on to so many steps while the load at `awaited`, if any, was passed fewer than kFewPasses times.
  unsigned further_steps = 0;
  std::uintptr_t awaited = 0;
  double persist_wait_ns = 0;  // for so long fences behind flushes hold the thread up; see PersistWait
  bool counts_rounds = false;  // of loops of persists: for a second one it goes on to kMostForRounds
  Rules rules{};

  static constexpr unsigned kFewPasses = 8;

  bool is_long() const noexcept { return worth == WalkWorth::kLong; }
};

// What a tick finds in the caches.
enum class TickMoment : std::uint8_t {
  kSteady,
  kDisturbed,  // the thread was away when the tick fell due, or for long before: much of it is others'
};

class WalkSchedule {
 public:
  // Where a round of a program's loop takes thousands of instructions (an interpreter's), a walk of one round
  // costs half as much as one of five: what walks themselves use is in no cache at first.
  static constexpr WalkPlan kShort = {.steps = 3000, .worth = WalkWorth::kShort, .further_steps = 12000};
  // A short walk sees each line for the first time since the tick, which has displaced some of a small set.
  // Of a long one the first half brings such a set back, and its lines are hits in the second; those of a
  // large set are as new there as in the first. Where loads are known to miss, a short one will do.
  static constexpr WalkPlan kLong = {.steps = 40000, .warm_up = 20000, .worth = WalkWorth::kLong};

  // Better than nothing, until there is something better.
  static constexpr WalkPlan kDisturbed = {.steps = 3000, .worth = WalkWorth::kDisturbed};

  // `budget`: the share of the thread's own CPU time that walks may take, some times that of injected time,
  // which covers them, and more of what will be injected only when they have been.
  // `evenly`: also of what a thread does when it waits for no load as much is to be known.
  explicit WalkSchedule(double budget, Rules rules = {}, bool evenly = false) noexcept
      : budget_(budget), ahead_ns_(kAheadNs * budget), rules_(rules), evenly_(evenly) {}

  void on_time(double ns) noexcept;
  void on_injection(double ns) noexcept;
  // So much is likely to be injected for a load of which too little is known as yet.
  void on_unknown(double likely_ns) noexcept;
  // It has gone so far. The first ones that get anywhere also touch all that walks use, which may take ten
  // times what they would have taken: of what is there, half stays for the next.
  void on_walk(double cost_ns, unsigned steps) noexcept;

  // At a tick. `waits`: a load was waited for, of which walks say `verdict`.
  WalkPlan at_tick(TickMoment moment, bool waits, const Verdict& verdict) noexcept;

 private:
  // A program of a second is to have its verdicts too: the budget of so much time is there at first. It is
  // for what is still to be known, and for one walk of the thread's own, which tells of it what no verdict
  // does: what others have told of its loads, as in a process that serves one request, is not told again at
  // each tick.
  static constexpr double kAheadNs = 1.2e9;

  WalkPlan choose(TickMoment moment, bool waits, const Verdict& verdict) noexcept;
  bool may_spend_ahead(const Verdict& verdict) const noexcept;
  double credit_ns() const noexcept { return earned_ns_ + (spends_ahead_ ? ahead_ns_ : 0); }

  double budget_;
  double earned_ns_ = 0;      // with time and delays, less what walks have taken of it
  double ahead_ns_;           // what is left of what was there at first
  bool spends_ahead_ = true;  // the walk that is due
  bool has_walked_ = false;
  Rules rules_;
  bool evenly_;
  int set_up_walks_ = 4;  // are still to come
  bool was_long_ = false;
  int disturbed_in_row_ = 0;
};

}  // namespace nvmemu
