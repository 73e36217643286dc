// SPDX-License-Identifier: Apache-2.0
#include "storage/device_wait.h"

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/timespec.h"
#include "device_wait_note.h"

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

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void sleep_until(std::uint64_t until_ns) noexcept {
  const DeviceWaitNote note;
  for (std::uint64_t now = monotonic_raw_ns(); now < until_ns; now = monotonic_raw_ns()) {
    const std::uint64_t left = until_ns - now, late = lateness.ns();
    if (left <= late + late / 2) {
      if (raw_syscall(SYS_sched_yield) != 0) pause();
      continue;
    }
    const std::uint64_t sleep_ns = left - late;
    const timespec time = timespec_of(sleep_ns);
    const bool whole = raw_syscall(SYS_nanosleep, &time, nullptr) == 0;
    const std::uint64_t end = monotonic_raw_ns();
    if (whole) lateness.note(end - std::min(end, now + sleep_ns));
  }
}

void spin_ns(std::uint64_t ns) noexcept {
  constexpr std::uint64_t kMostStepNs = 3000;  // longer, and another ran
  std::uint64_t left = ns;
  for (std::uint64_t last = monotonic_raw_ns(); left > 0;) {
    pause();
    const std::uint64_t now = monotonic_raw_ns();
    left -= std::min({left, now - last, kMostStepNs});
    last = now;
  }
  if (ns > 0) note_spun(ns);
}

}  // namespace nvmemu::preload
