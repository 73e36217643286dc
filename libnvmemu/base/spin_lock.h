// SPDX-License-Identifier: Apache-2.0
// A lock for handlers: who waits spins, and lets others run. Async-signal-safe where whoever holds it is not
// interrupted by a handler that takes it.
#pragma once

#include <sys/syscall.h>

#include <atomic>

#include "base/raw_syscall.h"

namespace nvmemu {

class SpinLock {
 public:
  void lock() noexcept {
    constexpr unsigned kTries = 100;
    for (unsigned tries = 0; is_held_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries % kTries == kTries - 1) raw_syscall(SYS_sched_yield);
    }
  }
  void unlock() noexcept { is_held_.store(false, std::memory_order_release); }
  // Others may take it meanwhile.
  void let_others() noexcept {
    unlock();
    raw_syscall(SYS_sched_yield);
    lock();
  }

 private:
  std::atomic<bool> is_held_{false};
};

}  // namespace nvmemu
