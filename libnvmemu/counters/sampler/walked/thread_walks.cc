// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/walked/thread_walks.h"

#include <algorithm>

#include "walk/idle_walkers.h"
#include "walk/walker.h"

namespace nvmemu {
namespace {

IdleWalkers idle_walkers;

}  // namespace

SharedWalks* create_shared_walks(const WalkMachine& machine, WalkTally& tally,
                                 const WalkTiers& tiers) noexcept {
  return SharedWalks::create(machine, tally, tiers);
}

void note_served(SharedWalks* shared, std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (shared != nullptr) shared->untouchable().add_served({begin, end});
}

void note_served_no_more(SharedWalks* shared, std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (shared != nullptr) shared->untouchable().remove_served({begin, end});
}

void ThreadWalks::open() noexcept {
  if (shared_ != nullptr) walker_ = idle_walkers.take();
}

void ThreadWalks::close() noexcept {
  idle_walkers.give_back(walker_);
  walker_ = nullptr;
}

Verdict ThreadWalks::verdict_of(const LoadEntry& load) noexcept { return shared_->verdict_of(load.address); }

bool ThreadWalks::may_tell_of(const LoadEntry& waited_for) noexcept {
  if (waits_for_reads(waited_for.kind)) return true;
  const Verdict verdict = verdict_of(waited_for);
  return !verdict.is_known() || verdict.mostly_misses();
}

bool ThreadWalks::holds_code(std::uintptr_t pc) const noexcept {
  return walker_ != nullptr && shared_->holds_code(pc);
}

WalkTaken ThreadWalks::maybe_walk(const ucontext_t& context, TickMoment moment,
                                  const LoadEntry* waited_for) noexcept {
  missed_ = {};
  const Verdict verdict = waited_for != nullptr ? verdict_of(*waited_for) : Verdict{};
  WalkPlan plan = schedule_.at_tick(moment, waited_for != nullptr, verdict);
  if (plan.steps == 0) return {};
  if (waited_for != nullptr) plan.awaited = waited_for->address;
  plan.persist_wait_ns = persist_wait_.ns();
  const WalkOutcome outcome = walker_->walk(*shared_, context, plan);
  schedule_.on_walk(outcome.ns, outcome.steps);
  if (!plan.is_long()) persist_wait_.on_walk(outcome.modelled_ns, outcome.persist_waits);
  missed_ = std::span(walker_->missed())
                .first(std::min(Walker::kMissesKept, static_cast<std::size_t>(outcome.misses)));
  WalkTaken taken{.ns = outcome.ns,
                  .steps = outcome.steps,
                  .readings = outcome.readings,
                  .passed = outcome.passed,
                  .persists = outcome.persists};
  if (outcome.misses_in_a_row > 0) {
    constexpr double kNew = 0.25;
    in_a_row_per_miss_ += kNew * (outcome.misses_in_a_row / outcome.misses - in_a_row_per_miss_);
    taken.overlap = outcome.overlap;
  }
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    taken.misses_in_a_row[tier] = in_a_row_per_miss_ * outcome.spared * outcome.misses_of_tier[tier];
  return taken;
}

}  // namespace nvmemu
