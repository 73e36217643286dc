// SPDX-License-Identifier: Apache-2.0
// Signals that the emulator has handlers for: what the program has set for them is kept here, and not by the
// kernel.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace nvmemu::preload {

// Ticks arrive by SIGWINCH: ignored by default, so that one that is pending across an exec does no harm; not
// a real-time signal, so that it needs no queue; sent by terminals only, and seldom waited for otherwise than
// by handlers, which are called. Not by SIGURG: PostgreSQL's processes wake each other by it, blocked,
// through descriptors, and Go's runtime its threads.
inline constexpr int kTickSignal = SIGWINCH;

// Installs handlers for all of them, by an entry of the library's (signal_entry.h), keeping what was set
// before as the program's. False where the kernel refuses.
bool install_kept_signals() noexcept;

// Whether the program's setting for `signal` is kept here.
bool is_kept(int signal) noexcept;
// Whether it may be a fault of what the thread has just executed.
bool is_fault(int signal) noexcept;

// Stands in for sigaction(2) for a kept signal: what the program sets, and sees, is its own.
int kept_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept;
// Its two halves, of a system call that is seen: what the program has set; and what the kernel is to have
// from now on, where the program sets this. Async-signal-safe.
struct sigaction kept_action(int signal) noexcept;
struct sigaction keep_action(int signal, const struct sigaction& action) noexcept;

// What the program wants of a signal that has come.
struct Wish {
  std::uintptr_t handler = 0;  // to be called; 0: none
  bool ends = false;           // the process, as it does by default
};
// With its flags and mask in force from then on, as far as the kernel does not see to it. Async-signal-safe.
Wish wish_of_program(int signal, const siginfo_t& info, const ucontext_t& context) noexcept;

}  // namespace nvmemu::preload
