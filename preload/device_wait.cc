// SPDX-License-Identifier: Apache-2.0
#include "device_wait.h"

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/timespec.h"
#include "calling_thread.h"

namespace nvmemu::preload {
namespace {

// How late sleeps end here, as they have ended so far: the timer's slack, and what an idle processor takes to
// wake up. Most of them: it follows faster up than down, since what ends early is spun, and what ends late is
// wrong.
class Lateness {
 public:
  std::uint64_t ns() const noexcept { return ns_.load(std::memory_order_relaxed); }
  void note(std::uint64_t late_ns) noexcept {
    constexpr std::uint64_t kMost = 300'000, kUp = 4, kDown = 16;
    const std::uint64_t now = ns(), seen = std::min(late_ns, kMost);
    ns_.store(seen > now ? now + (seen - now) / kUp : now - (now - seen) / kDown, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> ns_{60'000};
};

constinit Lateness lateness;

// What a thread spins. Whose time it is, is asked before the wait: after it nothing is done that takes as
// long as a fast device does, such as a system call.
class Spun {
 public:
  Spun() noexcept {
    const Thread thread = calling_thread();
    if (thread.state != nullptr && thread.state->is_mine()) state_ = thread.state;
  }
  void add(std::uint64_t ns) const noexcept {
    if (state_ != nullptr) state_->note_device_wait(ns);
  }

 private:
  ThreadState* state_ = nullptr;
};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Others run while it yields: what it spins of that only its own clock tells. One that stands still tells of
// no time.
std::uint64_t yield_until(std::uint64_t until_ns) noexcept {
  const std::uint64_t begin_ns = thread_cpu_ns();
  while (monotonic_raw_ns() < until_ns) {
    if (raw_syscall(SYS_sched_yield) != 0) pause();
  }
  const std::uint64_t end_ns = thread_cpu_ns();
  return end_ns - std::min(begin_ns, end_ns);
}

}  // namespace

void sleep_until(std::uint64_t until_ns) noexcept {
  constexpr std::uint64_t kLastNs = 5000;  // longer than a yield, and than a look at the thread's clock
  const Spun spun;
  for (std::uint64_t now = monotonic_raw_ns(); now < until_ns; now = monotonic_raw_ns()) {
    const std::uint64_t left = until_ns - now, late = lateness.ns();
    if (left <= kLastNs) {
      while (monotonic_raw_ns() < until_ns) pause();
      spun.add(left);
    } else if (left <= late + late / 2) {
      spun.add(yield_until(until_ns - kLastNs));
    } else {
      const std::uint64_t sleep_ns = left - late;
      const timespec time = timespec_of(sleep_ns);
      const bool whole = raw_syscall(SYS_nanosleep, &time, nullptr) == 0;
      const std::uint64_t end = monotonic_raw_ns();
      if (whole) lateness.note(end - std::min(end, now + sleep_ns));
    }
  }
}

void spin_ns(std::uint64_t ns) noexcept {
  if (ns == 0) return;
  constexpr std::uint64_t kMostStepNs = 3000;  // longer, and another ran
  std::uint64_t left = ns;
  std::uint64_t last = monotonic_raw_ns();
  const Spun spun;
  while (left > 0) {
    const std::uint64_t now = monotonic_raw_ns();
    left -= std::min({left, now - last, kMostStepNs});
    last = now;
    pause();
  }
  spun.add(ns);
}

}  // namespace nvmemu::preload
