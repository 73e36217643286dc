// SPDX-License-Identifier: Apache-2.0
// Zydis' registers and memory operands as the sampler names them. For what decodes; async-signal-safe.
#pragma once

#include <Zydis/Zydis.h>

#include <array>
#include <cstdint>
#include <optional>

#include "counters/sampler/code/instruction.h"

namespace nvmemu {

inline bool is_general_register(ZydisRegister reg) {
  return reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15;
}

inline bool is_plain_register(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP || is_general_register(reg);
}

// Of a plain register: its index in ucontext_t's gregs, or what MemoryOperand says instead of one.
inline std::int8_t greg_of(ZydisRegister reg) {
  // ZYDIS_REGISTER_RAX to ZYDIS_REGISTER_R15 in Zydis' order (the processor's own).
  constexpr std::array<std::int8_t, 16> kGregs = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                                  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                                  REG_R12, REG_R13, REG_R14, REG_R15};
  if (reg == ZYDIS_REGISTER_NONE) return MemoryOperand::kNone;
  if (reg == ZYDIS_REGISTER_RIP) return MemoryOperand::kNextInstruction;
  return kGregs[static_cast<std::size_t>(reg - ZYDIS_REGISTER_RAX)];
}

// Nothing where plain registers do not tell the address: %gs, gathers, 32-bit addressing.
inline std::optional<MemoryOperand> operand_of(const ZydisDecodedOperand& operand, unsigned address_width) {
  const auto& mem = operand.mem;
  if (mem.type != ZYDIS_MEMOP_TYPE_MEM || address_width != 64) return std::nullopt;
  if (mem.segment == ZYDIS_REGISTER_GS) return std::nullopt;
  if (!is_plain_register(mem.base) || !is_plain_register(mem.index)) return std::nullopt;
  const std::int64_t displacement = mem.disp.has_displacement ? mem.disp.value : 0;
  if (displacement != static_cast<std::int32_t>(displacement)) return std::nullopt;
  return MemoryOperand{.base = greg_of(mem.base),
                       .index = greg_of(mem.index),
                       .scale = mem.scale,
                       .displacement = static_cast<std::int32_t>(displacement),
                       .is_thread_local = mem.segment == ZYDIS_REGISTER_FS};
}

}  // namespace nvmemu
