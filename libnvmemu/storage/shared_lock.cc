// SPDX-License-Identifier: Apache-2.0
#include "storage/shared_lock.h"

#include <sys/syscall.h>

#include <cerrno>

#include "base/clock.h"
#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

constexpr unsigned kTries = 200;
// Of one who is stopped, or whose number means nothing here (another namespace), nothing can be asked.
constexpr std::uint64_t kAskAfterNs = 20'000'000, kMostNs = 2'000'000'000;

bool is_there(std::uint64_t holder) noexcept {
  const long result =
      raw_syscall(SYS_tgkill, static_cast<int>(holder >> 32), static_cast<int>(holder & 0xffffffff), 0);
  return result != -ESRCH;
}

}  // namespace

// Always another odd number than before.
void SharedLock::begin() noexcept {
  changes_.store((changes_.load(std::memory_order_relaxed) + 1) | 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
}

SharedLock::Taken SharedLock::lock() noexcept {
  const auto self = static_cast<std::uint64_t>(raw_syscall(SYS_getpid)) << 32 |
                    static_cast<std::uint64_t>(raw_syscall(SYS_gettid));
  std::uint64_t seen = 0, seen_since_ns = 0;
  for (unsigned tries = 1;; ++tries) {
    std::uint64_t holder = 0;
    if (holder_.compare_exchange_weak(holder, self, std::memory_order_acquire)) {
      begin();
      return Taken::kUsually;
    }
    if (holder == self) return Taken::kNot;
    if (tries % kTries != 0 || holder == 0) continue;
    raw_syscall(SYS_sched_yield);
    const std::uint64_t now_ns = monotonic_raw_ns();
    if (holder != seen) {
      seen = holder;
      seen_since_ns = now_ns;
    }
    const std::uint64_t waited_ns = now_ns - seen_since_ns;
    if (waited_ns < kAskAfterNs || (waited_ns < kMostNs && is_there(holder))) continue;
    if (holder_.compare_exchange_strong(holder, self, std::memory_order_acquire)) {
      begin();
      return Taken::kFromTheDead;
    }
  }
}

}  // namespace nvmemu
