// SPDX-License-Identifier: Apache-2.0
// Signals as the program sees them, which is not to notice the emulator's handlers, nor that one cannot be
// blocked. What the interposed functions are made of; their names and old-fashioned kin are in signals.cc and
// signal_masks.cc.
#pragma once

#include <signal.h>

#include "signal_mask.h"

namespace nvmemu::preload {

// sigaction(2), and sigprocmask(2) of the calling thread.
int program_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;
int program_sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept;

// Whether that is not to be left to the C library, which would show the emulator's handler.
bool is_handled_here(int signal) noexcept;

// Whether a thread with this mask has the ticks' signal blocked, as it sees it, which the kernel has not.
// Async-signal-safe.
bool has_ticks_blocked(SignalMask mask) noexcept;
// Lets them through on the calling thread, which sees what it has seen.
void unblock_ticks() noexcept;

}  // namespace nvmemu::preload
