// SPDX-License-Identifier: Apache-2.0
// For processors whose code is not decoded yet: see kDecodes. No instruction is known, so that none is taken
// for a load.
#include "counters/sampler/code/instruction.h"
#include "counters/sampler/code/loop.h"

namespace nvmemu {

static_assert(!kDecodes);

std::optional<Instruction> decode_instruction(const std::uint8_t*, std::size_t) noexcept {
  return std::nullopt;
}

std::optional<Loop> loop_around(std::uintptr_t) noexcept { return std::nullopt; }

std::uintptr_t address_of(const Stream&, const Registers&) noexcept { return 0; }

}  // namespace nvmemu
