// SPDX-License-Identifier: Apache-2.0
// One instruction as Zydis sees it. Async-signal-safe: Zydis keeps no state and allocates nothing.
#pragma once

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvmemu {

using Operands = std::span<const ZydisDecodedOperand>;

struct ZydisDecoded {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

  Operands visible() const { return {operands, instruction.operand_count_visible}; }
  Operands all() const { return {operands, instruction.operand_count}; }
};

// Of the bytes at `code`, of which `available` may be read: Zydis' status, and where that is success,
// `decoded`.
inline ZyanStatus decode(const std::uint8_t* code, std::size_t available, ZydisDecoded& decoded) noexcept {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const std::size_t length = std::min<std::size_t>(available, ZYDIS_MAX_INSTRUCTION_LENGTH);
  return ZydisDecoderDecodeFull(&decoder, code, length, &decoded.instruction, decoded.operands);
}

// It names memory, but neither reads nor writes it.
inline bool touches_no_data(const ZydisDecodedInstruction& instruction) {
  const auto category = instruction.meta.category;
  return category == ZYDIS_CATEGORY_PREFETCH || category == ZYDIS_CATEGORY_NOP ||
         category == ZYDIS_CATEGORY_WIDENOP;
}

}  // namespace nvmemu
