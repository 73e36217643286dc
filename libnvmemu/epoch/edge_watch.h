// SPDX-License-Identifier: Apache-2.0
// Which edges a thread looks at. To read the clock costs more than all else at one: where edges follow one
// another closely, as in a loop that takes a lock and gives it back, some are passed by unseen.
//
// Only where many in a row were close: an edge that is passed by may be the one at the end of a long
// interval, which is then paid for by the next. (A parallel region ends, and another begins a microsecond
// later: when one close edge was enough, every other region of 165 us was paid for with the one after it,
// and the team waited for the lumps.) Pure arithmetic, async-signal-safe, one thread.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nvmemu {

// All zeros to begin with, which is why nothing is initialised here: it lies in thread-local storage.
class EdgeWatch {
 public:
  // Whether this edge is one to pass by.
  bool passes_by() noexcept {
    if (to_pass_ == 0) return false;
    --to_pass_;
    return true;
  }

  // Of one that is not, at `now_ticks`: whether `interval_ticks` have passed since the last paid().
  bool is_due(std::uint64_t now_ticks, std::uint64_t interval_ticks) noexcept {
    const std::uint64_t gap_ticks = (now_ticks - last_look_ticks_) / (passed_ + 1) + 1;
    // Never so many that a whole interval could pass meanwhile.
    const std::uint64_t fitting = std::min<std::uint64_t>(kMostPassed, interval_ticks / 8 / gap_ticks);
    close_in_row_ = fitting > 0 ? std::min(close_in_row_ + 1, kManyInRow) : 0;
    passed_ = close_in_row_ == kManyInRow ? static_cast<std::uint32_t>(fitting) : 0;
    to_pass_ = passed_;
    last_look_ticks_ = now_ticks;
    return now_ticks - last_paid_ticks_ >= interval_ticks;
  }

  // An edge was paid at, until `now_ticks`.
  void paid(std::uint64_t now_ticks) noexcept { last_paid_ticks_ = last_look_ticks_ = now_ticks; }

 private:
  static constexpr std::uint32_t kMostPassed = 8;
  static constexpr std::uint32_t kManyInRow = 32;

  std::uint32_t to_pass_, passed_, close_in_row_;
  std::uint64_t last_look_ticks_, last_paid_ticks_;
};

}  // namespace nvmemu
