// SPDX-License-Identifier: Apache-2.0
// What a step along a list takes now, timed without traps.
//
// Probes read one load between fences, behind a trap that has begun to look its translation up; what that is
// to the load's latency is calibrated, and was 0.86 to 1.01 in 25 calibrations of one machine. Of a list
// there is another way: at a tick, its next links are loaded ahead of the program, each where the one before
// has led. That costs nothing, for the program finds them in its caches and makes up for the time. The first
// hundreds are slower, since the kernel has been there: they pass.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

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

// Some of a list, walked ahead of the program.
struct ListWalk {
  static constexpr std::size_t kReadings = 4;
  std::array<double, kReadings> step_ns{};         // means of some steps,
  std::array<std::uintptr_t, kReadings> places{};  // and where those began
};

// Reads at `from`, and so on, each time at what was read plus `displacement`, for some 600 loads. Nothing
// where the list ends before or cannot be read, or where a few steps take longer than `longest_ns` each.
// `overhead_ns`: of fences and clock. Like the other guarded reads (guarded_read.h) it needs a handler for
// faults. Async-signal-safe.
std::optional<ListWalk> walk_list(const Clock& clock, std::uintptr_t from, std::int32_t displacement,
                                  double overhead_ns, double longest_ns) noexcept;

}  // namespace nvmemu
