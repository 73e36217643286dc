// SPDX-License-Identifier: Apache-2.0
// Samples of one thread's user-mode execution, from perf_event's software task clock: every `period` of CPU
// time the kernel writes the instruction pointer into a small ring, and every few samples it sends the thread
// a signal.
//
// Only user mode is sampled, and the signal is sent from the sample's own interrupt: the thread is running
// its own code when it arrives, so that no system call is interrupted and no blocked thread is woken.
//
// The event lives by its mapping alone: its file descriptor is closed at once, so that the program's
// descriptors are what they would be without it, and a program that closes all it finds does no harm.
#pragma once

#include <cstddef>
#include <cstdint>

#include "counters/sampler/ticker/ticker_sample.h"

struct perf_event_mmap_page;

namespace nvmemu {

class PerfTicker {
 public:
  PerfTicker() = default;
  PerfTicker(const PerfTicker&) = delete;
  PerfTicker& operator=(const PerfTicker&) = delete;

  // Starts sampling the thread `tid` of this process: a sample each `period_ns` (>= 100 us), signal `signal`
  // each `wakeup` samples. 0, or the errno of what refused. The signal's handler must be in place. With
  // `registers`, samples have them, and the time (CLOCK_MONOTONIC); the ring then has two pages more.
  int open(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal,
           bool registers = false) noexcept;
  // Likewise one sample, with its signal, when `first_ns` (>= 10 us) of CPU time have passed, and none behind
  // it until reopen(). Where the thread is in the kernel just then, the next multiple of that.
  int open_for_one(int tid, std::uint64_t first_ns, int signal, bool registers = false) noexcept;
  // Likewise with another period; where that is refused, it goes on as before.
  int reopen(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal) noexcept;
  void close() noexcept;

  // After fork, in the child: the ring is not mapped there and the event stays the parent's.
  void abandon() noexcept { page_ = nullptr; }

  bool is_open() const noexcept { return page_ != nullptr; }

  // Takes what the ring holds: up to `capacity` samples, oldest first. What the kernel could not write for
  // want of room is added to `lost`. Async-signal-safe; only on the sampled thread.
  std::size_t drain(TickerSample* samples, std::size_t capacity, std::uint64_t& lost) noexcept;

  bool has_samples() const noexcept;

  // Drops what the ring holds. Whether that was anything. Async-signal-safe; only on the sampled thread.
  bool discard() noexcept;

 private:
  int open_event(int tid, std::uint64_t period_ns, std::uint32_t wakeup, int signal,
                 unsigned long request) noexcept;
  std::size_t map_bytes() const noexcept;

  perf_event_mmap_page* page_ = nullptr;
  bool registers_ = false;
};

}  // namespace nvmemu
