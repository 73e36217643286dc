// SPDX-License-Identifier: Apache-2.0
// A thread's general registers at a signal, by their numbers of register_set.h; zeros where nothing is
// decoded. Async-signal-safe.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "walk/decode/memory_operand.h"

namespace nvmemu {

#if defined(__x86_64__)
// Where ucontext_t has them.
inline constexpr std::array<int, kGeneralRegisters> kGregs = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

inline GeneralRegisters general_registers(const ucontext_t& context) noexcept {
  GeneralRegisters registers;
  std::transform(kGregs.begin(), kGregs.end(), registers.begin(),
                 [&](int at) { return static_cast<std::uint64_t>(context.uc_mcontext.gregs[at]); });
  return registers;
}
#else
inline GeneralRegisters general_registers(const ucontext_t&) noexcept { return {}; }
#endif

}  // namespace nvmemu
