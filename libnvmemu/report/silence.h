// SPDX-License-Identifier: Apache-2.0
// A watchdog: whether the samples that arrived fit the time that the program ran. Where ticks are lost, a
// program looks as if it had not waited.
#pragma once

#include <cstdint>

namespace nvmemu {

// Sums over processes that were sampled, and told of their time when they ended.
struct SampledTime {
  double user_ns = 0;       // in user mode, what the emulator spent included
  double emulation_ns = 0;  // injected, and measuring
  double sampled_ns = 0;    // what samples stand for
  std::uint64_t cut_off =
      0;  // threads that were running when their process ended: their last epoch is not in it

  SampledTime& operator+=(const SampledTime& other) noexcept;
  double own_ns() const noexcept { return user_ns > emulation_ns ? user_ns - emulation_ns : 0; }
};

// Whether more than a third of the program's own time, and more than samples, clocks and ends of threads
// explain, was not sampled. Pure.
bool is_silent(const SampledTime& time) noexcept;

}  // namespace nvmemu
