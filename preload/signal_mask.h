// SPDX-License-Identifier: Apache-2.0
// The calling thread's signal mask, by the kernel's own view of it: nothing thread-local is touched.
#pragma once

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

using SignalMask = std::uint64_t;
constexpr SignalMask mask_of(int signal) { return SignalMask{1} << (signal - 1); }

// What the kernel forces on a thread for what the emulator's code may have just executed: blocked, these
// would end the process.
inline constexpr SignalMask kForced =
    mask_of(SIGSEGV) | mask_of(SIGBUS) | mask_of(SIGFPE) | mask_of(SIGILL) | mask_of(SIGSYS);
// While the emulator works: nothing of the program's can come between.
inline constexpr SignalMask kAllButForced = ~kForced;
// While it works on pages outside of a handler, and touches none itself: but for the clock, which may be read
// by a system call that is looked at.
inline constexpr SignalMask kAllButTraps = ~mask_of(SIGSYS);

// The mask that was there before.
inline SignalMask set_signal_mask(SignalMask mask) noexcept {
  SignalMask before = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

inline SignalMask mask_of(const sigset_t& set) noexcept {
  SignalMask mask = 0;
  std::memcpy(&mask, &set, sizeof mask);  // the kernel's signals come first in it
  return mask;
}

inline void add_to(sigset_t& set, SignalMask more) noexcept {
  const SignalMask mask = mask_of(set) | more;
  std::memcpy(&set, &mask, sizeof mask);
}

}  // namespace nvmemu::preload
