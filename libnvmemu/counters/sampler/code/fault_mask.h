// SPDX-License-Identifier: Apache-2.0
// Whether reads of the program's memory that fault reach a handler: blocked, they would end the process.
// Async-signal-safe.
#pragma once

#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/raw_syscall.h"

namespace nvmemu {

inline bool catches_faults(const ucontext_t& context) noexcept {
  constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  return std::none_of(std::begin(kFaults), std::end(kFaults),
                      [&](int signal) { return sigismember(&context.uc_sigmask, signal) == 1; });
}

// The same for the rest of a handler, if need be: what it returns to has its own mask again.
inline bool lets_faults_through(const ucontext_t& context) noexcept {
  if (catches_faults(context)) return true;
  constexpr auto bit = [](int signal) { return std::uint64_t{1} << (signal - 1); };
  const std::uint64_t faults = bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL);
  return raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, nullptr, sizeof faults) == 0;
}

}  // namespace nvmemu
