// SPDX-License-Identifier: Apache-2.0
// Where perf_event is refused (a container's seccomp filter): a POSIX timer on the thread's CPU time sends a
// signal, and the signal's saved instruction pointer is the sample. The kernel's tick limits it to some 250
// Hz, and so coarser statistics; it shows the same skid. A thread that is blocked uses no CPU time and is
// never woken.
#pragma once

#include <cstdint>
#include <ctime>

#include "counters/sampler/ticker/cpu_lap.h"

namespace nvmemu {

class TimerTicker {
 public:
  TimerTicker() = default;
  TimerTicker(const TimerTicker&) = delete;
  TimerTicker& operator=(const TimerTicker&) = delete;

  // Starts the timer of the calling thread, `tid`. 0, or the errno of what refused. `soon`: the first tick is
  // the kernel's next one, which may come at any part of its own period.
  int open(int tid, std::uint64_t period_ns, int signal, bool soon = false) noexcept;
  void close() noexcept;
  void abandon() noexcept { open_ = false; }  // a fork's child has no timers

  bool is_open() const noexcept { return open_; }

  // Whether a signal with this si_value came from a TimerTicker.
  static bool owns(const void* si_value_pointer) noexcept;

  // CPU time since the last tick, or since open(): what this tick's sample stands for. Async-signal-safe.
  double take_cpu_ns() noexcept;

  // CPU time from now on does not count the time before, or so much of it. Async-signal-safe.
  void restart() noexcept;
  void skip(double ns) noexcept { lap_.skip(ns); }

 private:
  timer_t timer_{};
  bool open_ = false;
  CpuLap lap_;
};

}  // namespace nvmemu
