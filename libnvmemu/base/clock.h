// SPDX-License-Identifier: Apache-2.0
// Time as the emulator reads it: a few nanoseconds a reading, safe anywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace nvmemu {

// The processor's time-stamp counter where it is invariant (constant rate, running in every idle state),
// calibrated against CLOCK_MONOTONIC_RAW; elsewhere CLOCK_MONOTONIC_RAW itself, one tick a nanosecond.
// Copyable, immutable: every member function is thread-safe and async-signal-safe.
class Clock {
 public:
  // Uses `known_hz` (> 0) where given, so that a child of a calibrated process need not calibrate; otherwise
  // spins for about 5 ms. Always returns a working clock.
  static Clock calibrate(double known_hz = 0);

  // A clock of CLOCK_MONOTONIC_RAW, whatever the processor has.
  static Clock monotonic();

  std::uint64_t now_ticks() const noexcept;
  double to_ns(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * ns_per_tick_; }
  std::uint64_t to_ticks(double ns) const noexcept;

  // Nanoseconds since `start_ticks`, a reading of this clock.
  double ns_since(std::uint64_t start_ticks) const noexcept { return to_ns(now_ticks() - start_ticks); }

  double hz() const noexcept { return 1e9 / ns_per_tick_; }
  bool uses_tsc() const noexcept { return uses_tsc_; }

 private:
  Clock(bool uses_tsc, double ns_per_tick) : ns_per_tick_(ns_per_tick), uses_tsc_(uses_tsc) {}
  double ns_per_tick_;
  bool uses_tsc_;
};

// Whether the processor says that its TSC is invariant (CPUID 80000007H:EDX[8]; Intel SDM volume 3, 18.17.1;
// AMD APM volume 3, E.4.6) and the kernel has not given it up (its clock source is the TSC or a paravirtual
// clock that rests on it).
bool tsc_is_invariant();

// Whether a kernel whose clock source has this name (a line of /sys/.../current_clocksource) still trusts the
// TSC.
bool clock_source_rests_on_tsc(std::string_view name) noexcept;

// Nanoseconds of CLOCK_MONOTONIC_RAW, and of this thread's CPU time. Async-signal-safe.
std::uint64_t monotonic_raw_ns() noexcept;
std::uint64_t thread_cpu_ns() noexcept;
// Of the thread `tid` of this process; 0 where there is none.
std::uint64_t thread_cpu_ns_of(int tid) noexcept;

}  // namespace nvmemu
