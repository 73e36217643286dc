// SPDX-License-Identifier: Apache-2.0
// A thread's general registers at a moment: from a sample, or from a signal handler's context.
#pragma once

#include <ucontext.h>

#include <array>
#include <cstdint>

#if defined(__x86_64__)
#include "walk/general_registers.h"
#endif

namespace nvmemu {

#if defined(__x86_64__)
// As register_set.h numbers them.
using Registers = std::array<std::uintptr_t, kGeneralRegisters>;

inline Registers registers_of(const ucontext_t& context) noexcept { return general_registers(context); }
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
