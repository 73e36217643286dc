// SPDX-License-Identifier: Apache-2.0
// A spin lock that is held while no handler of the program's can come upon it. Async-signal-safe; keeps
// errno.
#pragma once

#include "base/spin_lock.h"
#include "signal_mask.h"

namespace nvmemu::preload {

class QuietLock {
 public:
  explicit QuietLock(SpinLock& lock) noexcept : programs_(set_signal_mask(kAllButForced)), lock_(lock) {
    lock_.lock();
  }
  ~QuietLock() {
    lock_.unlock();
    set_signal_mask(programs_);
  }
  QuietLock(const QuietLock&) = delete;
  QuietLock& operator=(const QuietLock&) = delete;

 private:
  SignalMask programs_;
  SpinLock& lock_;
};

}  // namespace nvmemu::preload
