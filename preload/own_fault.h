// SPDX-License-Identifier: Apache-2.0
// A fault in the emulator's own code, which nobody is to look for in the program.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

namespace nvmemu::preload {

bool is_own_code(std::uintptr_t address) noexcept;

// On stderr, once a process: which signal, in which version, where. Async-signal-safe.
void say_own_fault(int signal, const siginfo_t& info, const ucontext_t& context) noexcept;

}  // namespace nvmemu::preload
