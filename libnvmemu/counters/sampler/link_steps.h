// SPDX-License-Identifier: Apache-2.0
// What a step along a list takes now, timed without traps.
//
// Probes read one load between fences, behind a trap that has begun to look its translation up; what that is
// to the load's latency is calibrated, and was 0.86 to 1.01 in 25 calibrations of one machine. Of a list
// there is another way: pages that it led through a while ago have left the TLB again, and their other lines
// are as far from the caches as those that it leads to next. Loads of such lines, each made to wait for the
// one before it as the program's own do, are timed several at a time. Chases over 512 MiB, 160 to 260 ns a
// load in pages of 2 MiB and 4 KiB, spent as much CPU time a load as these loads took, within 6 % (medians of
// a run).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"

namespace nvmemu {

// What the last steps of one load took. Lock-free, async-signal-safe; a reading that another thread's
// overwrites is one less.
class StepReadings {
 public:
  void add(double ns, bool in_huge_pages) noexcept;
  // The mean of the middle half: an interrupt may have come into any. 0 while there are too few.
  double mean_ns() const noexcept;
  bool all_in_huge_pages() const noexcept;
  void clear() noexcept { added_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kKept = 32;
  std::array<std::atomic<float>, kKept> ns_{};
  std::atomic<std::uint32_t> in_huge_pages_{0};  // a bit each
  std::atomic<std::uint32_t> added_{0};
};

inline constexpr std::size_t kStepsTogether = 8;

// Where the links of some loads led. Belongs to one thread; async-signal-safe.
class RecentLinks {
 public:
  using Places = std::array<std::uintptr_t, kStepsTogether>;

  // `load`, any constant of it, leads to `address`. Whether enough have come together since: then `oldest`
  // are those that it led to before as many others, and are forgotten.
  bool add(const void* load, std::uintptr_t address, Places& oldest) noexcept;

 private:
  struct Trail {
    const void* load = nullptr;
    std::size_t count = 0;
    std::array<std::uintptr_t, 2 * kStepsTogether> places{};
  };
  Trail& trail_of(const void* load) noexcept;

  std::array<Trail, 4> trails_{};
  std::size_t replaced_ = 0;
};

// ns a step of dependent loads of other lines in the pages of `places`, but for the first; 0 where one cannot
// be read, or where they are fewer than two. `overhead_ns`: of fences and clock. Like the other guarded reads
// (guarded_read.h) it needs a handler for faults. Async-signal-safe.
double time_steps(const Clock& clock, std::span<const std::uintptr_t> places, double overhead_ns) noexcept;

}  // namespace nvmemu
