// SPDX-License-Identifier: Apache-2.0
// Hits of breakpoints whose reason has been lost.
#pragma once

#include <signal.h>
#include <ucontext.h>

namespace nvmemu::preload {

// Whether the SIGTRAP is taken for one: the program goes on at the instruction. Async-signal-safe.
bool pass_stray_breakpoint(const siginfo_t& info, ucontext_t& context) noexcept;

}  // namespace nvmemu::preload
