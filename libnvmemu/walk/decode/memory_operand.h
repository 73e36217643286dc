// SPDX-License-Identifier: Apache-2.0
// Where an instruction's operand in memory lies.
#pragma once

#include <array>
#include <cstdint>

#include "walk/decode/register_set.h"

namespace nvmemu {

enum class Segment : std::uint8_t { kNone, kFs, kGs };

// base + index * scale + displacement, which has the instruction's own address in it where that counts.
struct MemoryOperand {
  std::int64_t displacement = 0;
  std::int8_t base = kNoRegister;
  std::int8_t index = kNoRegister;
  std::uint8_t scale = 0;
  Segment segment = Segment::kNone;
  bool is_short = false;  // an address of 32 bits
};

using GeneralRegisters = std::array<std::uint64_t, kGeneralRegisters>;

constexpr std::uint64_t scaled_index(const MemoryOperand& operand,
                                     const GeneralRegisters& registers) noexcept {
  return operand.index >= 0 ? registers[static_cast<std::uint8_t>(operand.index)] * operand.scale : 0;
}

// Its address, from what its segment begins at: a segment is no general register's.
constexpr std::uint64_t offset_in_segment(const MemoryOperand& operand, const GeneralRegisters& registers,
                                          std::uint64_t scaled) noexcept {
  std::uint64_t offset = static_cast<std::uint64_t>(operand.displacement) + scaled;
  if (operand.base >= 0) offset += registers[static_cast<std::uint8_t>(operand.base)];
  return operand.is_short ? static_cast<std::uint32_t>(offset) : offset;
}
constexpr std::uint64_t offset_in_segment(const MemoryOperand& operand,
                                          const GeneralRegisters& registers) noexcept {
  return offset_in_segment(operand, registers, scaled_index(operand, registers));
}

}  // namespace nvmemu
