// SPDX-License-Identifier: Apache-2.0
// One thread's walks, as the sampler uses them: at ticks, within a budget. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "counters/sampler/account/walked_samples.h"
#include "walk/persist_wait.h"
#include "walk/schedule.h"
#include "walk/walk_machine.h"
#include "walk/walk_persists.h"
#include "walk/walk_tally.h"
#include "walk/walk_tiers.h"

namespace nvmemu {

class SharedWalks;
class Walker;

// Null where nothing can be walked. See SharedWalks::create().
SharedWalks* create_shared_walks(const WalkMachine& machine, WalkTally& tally,
                                 const WalkTiers& tiers = {}) noexcept;

// A userfaultfd is to serve these addresses, or no longer does: walks read none of them. `shared` may be
// null. Async-signal-safe.
void note_served(SharedWalks* shared, std::uintptr_t begin, std::uintptr_t end) noexcept;
void note_served_no_more(SharedWalks* shared, std::uintptr_t begin, std::uintptr_t end) noexcept;

struct WalkTaken {
  double ns = 0;  // 0: none was
  unsigned steps = 0;
  unsigned readings = 0;
  WalkPassed passed{};
  ByTier<double> misses_in_a_row{};  // that it has made in the program's stead
  WalkOverlap overlap{};
  WalkPersists persists{};  // see WalkOutcome
};

class ThreadWalks final : public VerdictSource {
 public:
  // `shared` null: never walks.
  ThreadWalks(SharedWalks* shared, double budget, Rules rules, bool evenly = false) noexcept
      : shared_(shared), schedule_(budget, rules, evenly) {}
  ThreadWalks(const ThreadWalks&) = delete;
  ThreadWalks& operator=(const ThreadWalks&) = delete;

  void open() noexcept;  // where that fails, it never walks
  void close() noexcept;
  bool is_open() const noexcept { return walker_ != nullptr; }

  void on_time(double ns) noexcept { schedule_.on_time(ns); }
  void on_injection(double ns) noexcept { schedule_.on_injection(ns); }
  void on_unknown(double likely_ns) noexcept { schedule_.on_unknown(likely_ns); }
  // See PersistWait.
  void on_samples(double at_persists_ns, double all_ns) noexcept {
    persist_wait_.on_samples(at_persists_ns, all_ns);
  }

  // Whether a walk from where that was waited for tells of what was. A store that is known to find its line
  // in the caches was not what was waited for.
  bool may_tell_of(const LoadEntry& waited_for) noexcept;

  // At a tick that found the thread with `context`; `waited_for`: what its last sample was held up by, null:
  // nothing known. The caller sees to it that faults are left.
  WalkTaken maybe_walk(const ucontext_t& context, TickMoment moment, const LoadEntry* waited_for) noexcept;

  // Of the last walk: the address of each miss, or of some.
  template <typename Use>
  void for_each_miss(Use use) const noexcept {
    constexpr std::size_t kFew = 16;
    for (const std::uintptr_t address : missed_.last(std::min(kFew, missed_.size()))) use(address);
  }
  // More of them.
  std::span<const std::uintptr_t> missed() const noexcept { return missed_; }

  Verdict verdict_of(const LoadEntry& load) noexcept override;

  // Whether a sample there is of a walk.
  bool holds_code(std::uintptr_t pc) const noexcept;

 private:
  SharedWalks* shared_;
  WalkSchedule schedule_;
  PersistWait persist_wait_;
  Walker* walker_ = nullptr;
  std::span<const std::uintptr_t> missed_;  // the walker's own
  double in_a_row_per_miss_ = 1;
};

}  // namespace nvmemu
