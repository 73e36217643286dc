// SPDX-License-Identifier: Apache-2.0
// One thread's walks: from a signal's context on, so many instructions ahead, with what its loads read put
// down to them.
#pragma once

#include <ucontext.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "walk/code_cache.h"
#include "walk/core_model.h"
#include "walk/memory.h"
#include "walk/registers.h"
#include "walk/schedule.h"
#include "walk/untouchable.h"
#include "walk/walk_machine.h"
#include "walk/walk_overlap.h"
#include "walk/walk_persists.h"
#include "walk/walk_tally.h"
#include "walk/walk_tiers.h"

namespace nvmemu {

// What all threads of a process have in common, and the processes that it forks: some 40 MiB of shared
// memory, touched as code is seen.
class SharedWalks {
 public:
  // Null where there is no memory, or no code can be executed. `tally` outlives them.
  static SharedWalks* create(const WalkMachine& machine, WalkTally& tally,
                             const WalkTiers& tiers = {}) noexcept;
  // Whom nobody uses any more.
  static void destroy(SharedWalks* shared) noexcept;

  CodeCache& code() noexcept { return code_; }
  const VectorLayout& layout() const noexcept { return layout_; }
  const WalkScale& scale() const noexcept { return scale_; }
  const CoreTiming& core() const noexcept { return core_; }
  bool is_told_at(std::uintptr_t pc) const noexcept { return told_code_begin_ <= pc && pc < told_code_end_; }
  const WalkTiers& tiers() const noexcept { return tiers_; }
  bool knows_targets() const noexcept { return knows_targets_; }
  WalkTally& tally() noexcept { return *tally_; }
  // This process' own.
  UntouchableMemory& untouchable() noexcept { return *untouchable_; }

  // What walks say of the load at `address`. Async-signal-safe.
  Verdict verdict_of(std::uintptr_t address) noexcept;

  // Whether a signal's pc is in a walk's own code.
  bool holds_code(std::uintptr_t pc) const noexcept { return code_.holds_stub(pc); }

 private:
  CodeCache code_;
  VectorLayout layout_;
  WalkScale scale_;
  CoreTiming core_;
  std::uintptr_t told_code_begin_, told_code_end_;
  WalkTiers tiers_;
  bool knows_targets_;
  WalkTally* tally_;
  UntouchableMemory* untouchable_;
};

struct WalkOutcome {
  unsigned steps = 0;  // 0 and no stop: what it has to know was found out anew instead
  WalkStop stop = WalkStop::kNone;
  double ns = 0;          // of CPU time that it took
  unsigned readings = 0;  // of loads, timed
  double misses = 0;      // lines that it brought in from memory,
  ByTier<double> misses_of_tier{};
  WalkPassed passed{};

  // Of a short walk, past its warm-up, by a model of the core.
  WalkOverlap overlap{};
  WalkPersists persists{};
  double miss_ns = 0;          // what a miss took, on average; 0: there was none
  double misses_in_a_row = 0;  // of `misses`, how many wait for each other; 0: not known
};

// Zeros are a valid state: to lie in memory mapped for it. One thread's, async-signal-safe.
class Walker {
 public:
  static constexpr std::size_t kMissesKept = 256;

  WalkOutcome walk(SharedWalks& shared, const ucontext_t& context, const WalkPlan& plan) noexcept;

  // Some of the addresses that the last walk found in memory.
  const std::array<std::uintptr_t, kMissesKept>& missed() const noexcept { return missed_; }

 private:
  class Run;

  void make_pages(SharedWalks& shared) noexcept;

  WalkRegisters registers_;
  WalkMemory memory_;
  CoreModel core_;
  BranchGuess branches_;
  std::array<std::uintptr_t, kMissesKept> missed_;
  std::array<std::uintptr_t, kRoundWords> round_words_;  // of the last loop of persists
  bool persisted_before_;                                // the last short walk has passed a persist
  bool has_pages_;
};

}  // namespace nvmemu
