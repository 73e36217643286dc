// SPDX-License-Identifier: Apache-2.0
// What a walk passes of persists that nobody tells of: a flush, or a store past the caches, of some lines,
// and a fence or a locked instruction behind it. Pure; one thread's.
#pragma once

#include <array>
#include <cstdint>

#include "base/persist_lines.h"
#include "tier/tier.h"

namespace nvmemu {

struct WalkPersists {
  double ns = 0;  // what a core takes for all that was passed, and waits for of misses, but of no persist; 0:
                  // not known
  ByTier<std::uint32_t> persists{},
      lines{};  // by the tier of their lines; one of several tiers counts in each
};

// Of persists that the emulator is told of (by libpmem's calls, before, or by nvmemu_persisted(), behind),
// its code is passed nearby: they are counted where they are told.
class PersistWatch {
 public:
  static constexpr unsigned kNearSteps = 256;

  // The `step`th instruction flushes a line, or stores past the caches; or waits for that; or is the
  // emulator's, that is told.
  void on_flush(unsigned step, std::uintptr_t address, TierId tier) noexcept {
    if (is_empty()) is_told_ = is_near(step, told_at_);
    const std::uintptr_t line = address / kCacheLineBytes;
    if (line != last_line_ || pending_[tier] == 0) ++pending_[tier];  // a line is often stored in pieces
    last_line_ = line;
  }
  void on_fence(unsigned step) noexcept {
    if (is_empty()) return;
    if (!is_told_) {
      settle();
      held_ = pending_;
      held_at_ = step;
    }
    pending_ = {};
  }
  void on_told(unsigned step) noexcept {
    if (is_near(step, held_at_)) held_ = {};
    told_at_ = step;
  }

  // What was passed until now.
  WalkPersists take(double ns) noexcept {
    settle();
    WalkPersists taken = passed_;
    taken.ns = ns;
    return taken;
  }

 private:
  using Lines = ByTier<std::uint32_t>;
  static constexpr unsigned kNever = ~0U;

  static bool is_near(unsigned step, unsigned before) noexcept {
    return before != kNever && step - before <= kNearSteps;
  }
  bool is_empty() const noexcept { return pending_ == Lines{}; }
  void settle() noexcept {
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
      if (held_[tier] != 0) ++passed_.persists[tier];
      passed_.lines[tier] += held_[tier];
    }
    held_ = {};
  }

  WalkPersists passed_;
  Lines pending_{}, held_{};  // flushed; and fenced, and perhaps told of yet
  std::uintptr_t last_line_ = 0;
  unsigned held_at_ = kNever, told_at_ = kNever;
  bool is_told_ = false;
};

}  // namespace nvmemu
