// SPDX-License-Identifier: Apache-2.0
// Zydis' memory operands as the sampler has them. For what decodes; async-signal-safe.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <optional>

#include "counters/sampler/code/instruction_effects.h"
#include "walk/zydis_decode.h"
#include "walk/zydis_registers.h"

namespace nvmemu {

inline std::int8_t plain_register(ZydisRegister reg) {
  return between(reg, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15);
}
inline bool is_plain_register(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || plain_register(reg) >= 0;
}

// Nothing where plain registers do not tell the address: %gs, gathers, 32-bit addressing.
inline std::optional<MemoryOperand> operand_of(const ZydisDecodedOperand& operand, unsigned address_width) {
  const auto& mem = operand.mem;
  if (mem.type != ZYDIS_MEMOP_TYPE_MEM || address_width != 64) return std::nullopt;
  if (mem.segment == ZYDIS_REGISTER_GS) return std::nullopt;
  if (!is_plain_register(mem.base) || !is_plain_register(mem.index)) return std::nullopt;
  const std::int64_t displacement = displacement_of(operand);
  if (displacement != static_cast<std::int32_t>(displacement)) return std::nullopt;
  return MemoryOperand{
      .base = mem.base == ZYDIS_REGISTER_RIP ? MemoryOperand::kNextInstruction : plain_register(mem.base),
      .index = plain_register(mem.index),
      .scale = mem.scale,
      .displacement = static_cast<std::int32_t>(displacement),
      .is_thread_local = mem.segment == ZYDIS_REGISTER_FS};
}

}  // namespace nvmemu
