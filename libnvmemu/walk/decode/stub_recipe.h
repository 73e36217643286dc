// SPDX-License-Identifier: Apache-2.0
// What a stub consists of: the instruction with its operand moved to where a pointer leads, and the registers
// to load before it and to save behind it.
#pragma once

#include <array>
#include <cstdint>

#include "walk/decode/micro_op.h"

namespace nvmemu {

// How an instruction's vector registers are loaded and saved. What AVX writes is cleared above; SSE leaves
// it alone.
enum class VectorForm : std::uint8_t { kSse, kAvx, kAvx512 };

struct StubRecipe {
  std::array<std::uint8_t, 16> code{};
  std::uint8_t length = 0;
  std::int8_t context = kNoRegister;                    // r8 to r11: points to WalkRegisters
  std::int8_t pointer = kNoRegister;                    // to the operand; kNoRegister: there is none
  std::int8_t stack = kNoRegister;                      // stands in for %rsp; kNoRegister: that is not named
  std::uint16_t general_used = 0, general_written = 0;  // without %rsp
  std::uint32_t vectors_used = 0, vectors_written = 0;
  std::uint8_t masks_used = 0, masks_written = 0;
  bool writes_stack_pointer = false;
  bool loads_flags = false;
  bool saves_flags = false;
  bool uses_old_float = false;  // whose registers are the unit's own
  VectorForm form = VectorForm::kSse;
};

}  // namespace nvmemu
