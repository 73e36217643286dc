// SPDX-License-Identifier: Apache-2.0
// What the emulator has mapped for itself beside a program's memory, and is none of it: as much as there is
// room to note. Any number of threads at a time, none of which waits; async-signal-safe.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/relaxed.h"

namespace nvmemu {

class EmulatorMemory {
 public:
  // Of this process. A child of it has them, too.
  static EmulatorMemory& get() noexcept {
    static constinit EmulatorMemory memory;
    return memory;
  }

  void note(const void* begin, std::size_t bytes) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    for (Range& range : ranges_) {
      std::uintptr_t none = 0;
      if (!range.begin.compare_exchange_strong(none, at, kRelaxed)) continue;
      range.end.store(at + bytes, std::memory_order_release);
      return;
    }
  }
  // Before it is unmapped: what is mapped there next may be the program's.
  void forget(const void* begin) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    for (Range& range : ranges_) {
      if (range.begin.load(kRelaxed) != at) continue;
      range.end.store(0, kRelaxed);
      range.begin.store(0, std::memory_order_release);
      return;
    }
  }

  // use(begin, end) for each part of a range that is none of it, in order.
  template <typename Use>
  void for_each_other(std::uintptr_t begin, std::uintptr_t end, const Use& use) const noexcept {
    while (begin < end) {
      const Piece own = first_between(begin, end);
      if (begin < own.begin) use(begin, own.begin);
      begin = own.end;
    }
  }

 private:
  struct Range {
    std::atomic<std::uintptr_t> begin, end;  // 0: free
  };
  struct Piece {
    std::uintptr_t begin, end;
  };

  // At `end` where there is none.
  Piece first_between(std::uintptr_t begin, std::uintptr_t end) const noexcept {
    Piece first{end, end};
    for (const Range& range : ranges_) {
      const std::uintptr_t own_end = range.end.load(std::memory_order_acquire);
      const std::uintptr_t own_begin = std::max(begin, range.begin.load(kRelaxed));
      if (own_end > own_begin && own_begin < first.begin) first = {own_begin, std::min(end, own_end)};
    }
    return first;
  }

  std::array<Range, 128> ranges_{};
};

}  // namespace nvmemu
