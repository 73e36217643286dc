// SPDX-License-Identifier: Apache-2.0
// One thread's walks: from a signal's context on, so many instructions ahead, with what its loads read put
// down to them.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "walk/core_model.h"
#include "walk/memory.h"
#include "walk/registers.h"
#include "walk/schedule.h"
#include "walk/shared_walks.h"
#include "walk/walk_overlap.h"
#include "walk/walk_passed.h"
#include "walk/walk_persists.h"
#include "walk/walk_stop.h"

namespace nvmemu {

struct WalkOutcome {
  unsigned steps = 0;  // 0 and no stop: what it has to know was found out anew instead
  WalkStop stop = WalkStop::kNone;
  double ns = 0;          // of CPU time that it took
  unsigned readings = 0;  // of loads, timed
  double misses = 0;      // lines that it brought in from memory,
  ByTier<double> misses_of_tier{};
  double spared = 1;  // the part of these misses' time that the program will not wait for
  WalkPassed passed{};

  // Of a short walk, by a model of the core: what it takes, and fences behind flushes in that.
  double modelled_ns = 0;
  unsigned persist_waits = 0;
  WalkOverlap overlap{};
  WalkPersists persists{};
  double miss_ns = 0;          // what a miss took, on average; 0: there was none
  double misses_in_a_row = 0;  // of `misses`, how many wait for each other; 0: not known
};

// Zeros are a valid state: to lie in memory mapped for it. One thread's, async-signal-safe.
class Walker {
 public:
  static constexpr std::size_t kMissesKept = 256;

  // Another thread's from now on.
  void begin_thread() noexcept {
    round_words_ = {};
    others_words_ = {};
    persisted_before_ = false;
  }

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
  OthersWords others_words_;
  bool persisted_before_;  // the last short walk has passed a persist
  bool has_pages_;
};

}  // namespace nvmemu
