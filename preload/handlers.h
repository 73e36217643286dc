// SPDX-License-Identifier: Apache-2.0
// The emulator's signal handlers, and what the program has set for the same signals.
#pragma once

#include <signal.h>

namespace nvmemu::preload {

// Ticks arrive by SIGURG: ignored by default, so that one that is pending across an exec does no harm; not a
// real-time signal, so that it needs no queue; hardly used by programs (out-of-band data), whose own use is
// forwarded. Breakpoints raise SIGTRAP.
inline constexpr int kTickSignal = SIGURG;
inline constexpr int kTrapSignal = SIGTRAP;

// Installs both, keeping what was set before as the program's. False where the kernel refuses.
bool install_handlers() noexcept;

// Whether the kernel would run these handlers, and no unknown one on a fault in a probe. A runtime that calls
// the kernel itself (Go) may have replaced them.
bool handlers_in_place() noexcept;

// Lets the signals through on the calling thread.
void unblock_signals() noexcept;

// Whether the program's setting for `signal` is kept here, and not by the kernel.
bool is_kept(int signal) noexcept;

// Stands in for sigaction(2) for a kept signal: what the program sets, and sees, is its own.
int kept_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;

}  // namespace nvmemu::preload
