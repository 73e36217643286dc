// SPDX-License-Identifier: Apache-2.0
// Faults of many threads that one thread serves: those that wait for the device wait together. Of one thread.
// Async-signal-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "paging/pager.h"

namespace nvmemu {

class FaultQueue {
 public:
  static constexpr std::size_t kMost = 48;  // fewer than pages can be read at once: others read, too
  static constexpr auto kNever = std::numeric_limits<std::uint64_t>::max();

  bool empty() const noexcept { return count_ == 0; }
  std::size_t room() const noexcept { return kMost - count_; }

  // Takes room() one at least.
  void begin(Pager& pager, std::uintptr_t address, bool write) noexcept {
    Waiting& waiting = waiting_[count_++];
    waiting.address = address;
    waiting.write = write;
    waiting.begun = pager.begin_fault(address, write, waiting.coming);
  }

  // What is due by now: answer(address, outcome), never kComing or kLater.
  template <typename Answer>
  void end_due(Pager& pager, const Answer& answer) noexcept {
    for (std::size_t at = 0; at < count_;) {
      Waiting& waiting = waiting_[at];
      if (!is_over(pager, waiting)) {
        ++at;
        continue;
      }
      answer(waiting.address, waiting.begun.outcome);
      if (--count_ != at) waiting = waiting_[count_];
    }
  }

  // When the next is due, by the pager's clock; it may have to be looked at again then.
  std::uint64_t next_ns() const noexcept {
    std::uint64_t next = kNever;
    for (std::size_t at = 0; at < count_; ++at) next = std::min(next, waiting_[at].begun.until_ns);
    return next;
  }

 private:
  struct Waiting {
    std::uintptr_t address = 0;
    bool write = false;
    BegunFault begun{};
    ComingPage coming{};
  };

  static bool is_over(Pager& pager, Waiting& waiting) noexcept {
    BegunFault& begun = waiting.begun;
    const auto is_due = [&] { return begun.until_ns <= pager.now_ns(); };
    if (is_due() && begun.outcome == FaultOutcome::kComing) begun = pager.end_fault(waiting.coming);
    if (is_due() && begun.outcome == FaultOutcome::kLater)
      begun = pager.begin_fault(waiting.address, waiting.write, waiting.coming);
    return is_due() && begun.outcome != FaultOutcome::kComing && begun.outcome != FaultOutcome::kLater;
  }

  std::array<Waiting, kMost> waiting_{};
  std::size_t count_ = 0;
};

}  // namespace nvmemu
