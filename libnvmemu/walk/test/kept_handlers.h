// SPDX-License-Identifier: Apache-2.0
// The signals that single-stepping needs for itself: what the program says of them is kept, and told to it.
// Its alternate signal stack likewise: handlers run on one that is larger than programs know of.
#pragma once

#include <signal.h>

#include <array>

namespace nvmemu {

inline constexpr std::array<int, 4> kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
inline constexpr int kTick = SIGPROF, kStep = SIGTRAP;

using SignalHandler = void (*)(int, siginfo_t*, void*);

// Handlers are called on the stack of keep_handlers(), with `blocked` beside the program's blocked signals,
// and the calling thread is the one that has that stack. What the program says after keep_handlers() is kept.
void take_signal(int signal, SignalHandler handler, const sigset_t& blocked);
void keep_handlers(const stack_t& stack);

// The fault is the program's: it comes again, and then does what the program has said. Async-signal-safe.
void give_back(int signal) noexcept;

}  // namespace nvmemu
