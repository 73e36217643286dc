// SPDX-License-Identifier: Apache-2.0
// For processors whose code is not decoded yet: see kDecodes. No instruction is known, so that none is taken
// for a load.
#include "counters/sampler/instruction.h"

namespace nvmemu {

static_assert(!kDecodes);

std::optional<Instruction> decode_instruction(const std::uint8_t*, std::size_t) noexcept {
  return std::nullopt;
}

std::uintptr_t effective_address(const MemoryOperand&, std::uintptr_t, std::uint8_t,
                                 const ucontext_t&) noexcept {
  return 0;
}

}  // namespace nvmemu
