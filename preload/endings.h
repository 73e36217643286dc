// SPDX-License-Identifier: Apache-2.0
// Signals that end the process unless the program says otherwise: while it does not, the emulator handles
// them, so that what is owed is paid and the board has the last epoch, and then lets the default happen.
#pragma once

#include <signal.h>

#include "signal_mask.h"

namespace nvmemu::preload {

// Takes those that are at their default; one that was inherited as ignored stays ignored. Faults end
// likewise, but what the program sets for them is kept elsewhere: see kept_signals.h.
void install_endings() noexcept;

bool is_ending(int signal) noexcept;

// Stands in for sigaction(2) for such a signal. What the program sets replaces the emulator's handler;
// SIG_DFL brings it back. Async-signal-safe.
int ending_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;

// SIG_DFL where `handler` is the emulator's for such signals.
sighandler_t as_program_sees(sighandler_t handler) noexcept;

// Pays, writes the last figures down, and ends the process by `signal` as if nothing had handled it, at once
// or when the calling handler returns. Meanwhile the program's signals have that mask, here all are blocked.
// Async-signal-safe.
void end_by(int signal, const siginfo_t& info, SignalMask programs_mask);
// Likewise without the first two, and without touching anything thread-local.
void end_at_once(int signal, const siginfo_t& info) noexcept;

}  // namespace nvmemu::preload
