// SPDX-License-Identifier: Apache-2.0
// Zydis' registers by their numbers of register_set.h. For what decodes; async-signal-safe.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>

#include "walk/decode/register_set.h"

namespace nvmemu {

inline std::int8_t between(ZydisRegister reg, ZydisRegister first, ZydisRegister last) {
  return reg >= first && reg <= last ? static_cast<std::int8_t>(reg - first) : kNoRegister;
}

// Of the general register that `reg` is, or is a part of.
inline std::int8_t general_of(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return between(whole, ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15);
}

// Of 32 or 64 bits; kNoRegister for any other operand.
inline std::int8_t word_register(const ZydisDecodedOperand& operand) {
  if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER || (operand.size != 64 && operand.size != 32))
    return kNoRegister;
  return general_of(operand.reg.value);
}

inline std::int8_t vector_of(ZydisRegister reg) {
  if (const auto xmm = between(reg, ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31); xmm >= 0) return xmm;
  if (const auto ymm = between(reg, ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31); ymm >= 0) return ymm;
  return between(reg, ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31);
}

inline std::int8_t mask_of(ZydisRegister reg) { return between(reg, ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7); }

inline bool is_flags(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_FLAGS || reg == ZYDIS_REGISTER_EFLAGS || reg == ZYDIS_REGISTER_RFLAGS;
}

// Of the x87 unit, or MMX.
inline bool is_x87(ZydisRegister reg) {
  return between(reg, ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_ST7) >= 0 ||
         between(reg, ZYDIS_REGISTER_MM0, ZYDIS_REGISTER_MM7) >= 0 || reg == ZYDIS_REGISTER_X87CONTROL ||
         reg == ZYDIS_REGISTER_X87STATUS || reg == ZYDIS_REGISTER_X87TAG;
}

// What a walk has for the thread as a whole, or does not need.
inline bool is_ambient(ZydisRegister reg) {
  return is_flags(reg) || reg == ZYDIS_REGISTER_MXCSR || reg == ZYDIS_REGISTER_XCR0 ||
         between(reg, ZYDIS_REGISTER_IP, ZYDIS_REGISTER_RIP) >= 0;
}

inline RegisterSet set_of(ZydisRegister reg) {
  if (const auto general = general_of(reg); general >= 0) return general_set(general);
  if (const auto vector = vector_of(reg); vector >= 0) return vector_set(vector);
  if (const auto mask = mask_of(reg); mask >= 0) return mask_set(mask);
  return is_flags(reg) ? kFlagsSet : 0;
}

}  // namespace nvmemu
