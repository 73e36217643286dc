// SPDX-License-Identifier: Apache-2.0
// One instruction as Zydis sees it. Async-signal-safe: Zydis keeps no state and allocates nothing.
#pragma once

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

namespace nvmemu {

using Operands = std::span<const ZydisDecodedOperand>;

struct ZydisDecoded {
  ZydisDecoder decoder;
  ZydisDecoderContext context;
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];  // as many as it has

  Operands visible() const { return {operands, instruction.operand_count_visible}; }
  Operands all() const { return {operands, instruction.operand_count}; }
};

// Of the bytes at `code`, of which `available` may be read, all but operands. False where they are no
// instruction.
inline bool decode_instruction(const std::uint8_t* code, std::size_t available,
                               ZydisDecoded& decoded) noexcept {
  ZydisDecoderInit(&decoded.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  const std::size_t length = std::min<std::size_t>(available, ZYDIS_MAX_INSTRUCTION_LENGTH);
  return ZYAN_SUCCESS(
      ZydisDecoderDecodeInstruction(&decoded.decoder, &decoded.context, code, length, &decoded.instruction));
}

// All of it.
inline bool decode(const std::uint8_t* code, std::size_t available, ZydisDecoded& decoded) noexcept {
  return decode_instruction(code, available, decoded) &&
         ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoded.decoder, &decoded.context, &decoded.instruction,
                                                 decoded.operands, decoded.instruction.operand_count));
}

inline bool is_in(auto value, const auto& list) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

inline bool reads(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
}
inline bool writes(const ZydisDecodedOperand& operand) {
  return (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
}

// If it has an operand in memory. XCHG is atomic there whether or not it says LOCK (Intel SDM volume
// 3, 9.1.2.1).
inline bool is_locked(const ZydisDecodedInstruction& instruction) {
  return (instruction.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0 || instruction.mnemonic == ZYDIS_MNEMONIC_XCHG;
}

// A store past the caches.
inline bool is_non_temporal_store(ZydisMnemonic mnemonic) {
  constexpr ZydisMnemonic kStores[] = {
      ZYDIS_MNEMONIC_MOVNTI,  ZYDIS_MNEMONIC_MOVNTDQ,   ZYDIS_MNEMONIC_MOVNTPS,  ZYDIS_MNEMONIC_MOVNTPD,
      ZYDIS_MNEMONIC_MOVNTQ,  ZYDIS_MNEMONIC_VMOVNTDQ,  ZYDIS_MNEMONIC_VMOVNTPS, ZYDIS_MNEMONIC_VMOVNTPD,
      ZYDIS_MNEMONIC_MOVDIRI, ZYDIS_MNEMONIC_MOVDIR64B,
  };
  return is_in(mnemonic, kStores);
}

inline bool is_repeated(const ZydisDecodedInstruction& instruction) {
  constexpr ZydisInstructionAttributes kRepeats =
      ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
  return (instruction.attributes & kRepeats) != 0;
}

inline std::int64_t displacement_of(const ZydisDecodedOperand& operand) {
  return operand.mem.disp.has_displacement ? operand.mem.disp.value : 0;
}

// It names memory, but neither reads nor writes it.
inline bool touches_no_data(const ZydisDecodedInstruction& instruction) {
  const auto category = instruction.meta.category;
  return category == ZYDIS_CATEGORY_PREFETCH || category == ZYDIS_CATEGORY_NOP ||
         category == ZYDIS_CATEGORY_WIDENOP;
}

}  // namespace nvmemu
