// SPDX-License-Identifier: Apache-2.0
// Signals as the kernel's own calls have them.
#pragma once

#include <signal.h>

#include <cstdint>

#include "signal_mask.h"

namespace nvmemu::preload {

// The kernel's struct sigaction (x86-64, arm64).
struct KernelAction {
  std::uintptr_t handler;
  unsigned long flags;
  std::uintptr_t restorer;
  SignalMask mask;
};

inline constexpr unsigned long kHasRestorer = 0x04000000;  // a flag

inline KernelAction as_kernel_has(const struct sigaction& action) noexcept {
  return {.handler = reinterpret_cast<std::uintptr_t>(action.sa_handler),
          .flags = static_cast<unsigned>(action.sa_flags),
          .restorer = reinterpret_cast<std::uintptr_t>(action.sa_restorer),
          .mask = mask_of(action.sa_mask)};
}

inline struct sigaction as_library_has(const KernelAction& action) noexcept {
  struct sigaction of {};
  of.sa_handler = reinterpret_cast<sighandler_t>(action.handler);
  of.sa_flags = static_cast<int>(action.flags);
  of.sa_restorer = reinterpret_cast<void (*)()>(action.restorer);
  add_to(of.sa_mask, action.mask);
  return of;
}

// A handler of the emulator's, by the kernel's own call: a sanitizer's functions come before the C library's,
// and would call it when it suits them, or not at all. False where the kernel refuses. Async-signal-safe.
bool set_in_kernel(int signal, const struct sigaction& action) noexcept;

// `action` as it is to be for the kernel where memory is paged. Of the emulator's own handler that mends
// pages: nothing may come between, and it is not to need the stack that it was called on.
KernelAction adopted(int signal, KernelAction action) noexcept;

// What may never be blocked where memory is paged: a page that is touched, and a system call, each end a
// process that blocks its signal.
inline constexpr SignalMask kPagingSignals = mask_of(SIGBUS) | mask_of(SIGSYS);

}  // namespace nvmemu::preload
