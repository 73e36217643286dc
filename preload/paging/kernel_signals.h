// SPDX-License-Identifier: Apache-2.0
// Signals as the kernel's own calls have them.
#pragma once

#include <cstdint>

#include "signal_mask.h"

namespace nvmemu::preload {

// The kernel's struct sigaction (x86-64).
struct KernelAction {
  std::uintptr_t handler;
  unsigned long flags;
  std::uintptr_t restorer;
  SignalMask mask;
};

// What may never be blocked where memory is paged: a page that is touched, and a system call, each end a
// process that blocks its signal.
inline constexpr SignalMask kPagingSignals = mask_of(SIGBUS) | mask_of(SIGSYS);

}  // namespace nvmemu::preload
