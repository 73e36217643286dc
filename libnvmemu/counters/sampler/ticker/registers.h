// SPDX-License-Identifier: Apache-2.0
// A thread's general registers at a moment: from a sample, or from a signal handler's context.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

#if defined(__x86_64__)
// Numbered as ucontext_t does: REG_R8 (0) to REG_RIP.
inline constexpr std::size_t kRegisters = REG_RIP + 1;
using Registers = std::array<std::uintptr_t, kRegisters>;

inline Registers registers_of(const ucontext_t& context) noexcept {
  Registers registers;
  for (std::size_t i = 0; i < kRegisters; ++i)
    registers[i] = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[i]);
  return registers;
}
#else
using Registers = std::array<std::uintptr_t, 1>;  // nothing decodes there

inline Registers registers_of(const ucontext_t&) noexcept { return {}; }
#endif

// What a ticker tells of a sample.
struct TickerSample {
  std::uintptr_t ip = 0;
  double time_ns = 0;     // wall time of some clock; only with registers
  Registers registers{};  // only where the ticker was opened with them
};

}  // namespace nvmemu
