// SPDX-License-Identifier: Apache-2.0
// Where a thread was interrupted, in the context that its signal handler is given. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace nvmemu {

inline std::uintptr_t program_counter(const ucontext_t& context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#endif
}

// Where it goes on when the handler returns.
inline void set_program_counter(ucontext_t& context, std::uintptr_t address) noexcept {
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(address);
#elif defined(__aarch64__)
  context.uc_mcontext.pc = address;
#endif
}

}  // namespace nvmemu
