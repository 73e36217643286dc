// SPDX-License-Identifier: Apache-2.0
// One x86-64 instruction, as far as loops over memory are concerned: what it reads and writes there, how it
// changes registers, and where it may branch to. (instruction.h has what the stall of a sample needs.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "walk/register_set.h"

namespace nvmemu {

// Of a general register, or none.
constexpr RegisterSet bit_of(std::int8_t reg) {
  return reg >= 0 ? general_set(static_cast<unsigned>(reg)) : 0;
}

// base + index * scale + displacement, over registers as register_set.h numbers them, relative to the thread
// pointer for thread-local variables (%fs on x86-64 Linux).
struct MemoryOperand {
  static constexpr std::int8_t kNone = kNoRegister;
  static constexpr std::int8_t kNextInstruction = -2;  // %rip: the address of the instruction that follows

  std::int8_t base = kNone;
  std::int8_t index = kNone;
  std::uint8_t scale = 0;
  std::int32_t displacement = 0;
  bool is_thread_local = false;
};

struct MemoryAccess {
  MemoryOperand operand;
  std::uint16_t bytes = 0;  // of one execution
  bool reads = false;
  bool writes = false;
  // Its stores do not read the line first: non-temporal ones, and those of a repeated string instruction,
  // which knows that it will write whole lines (Intel optimization manual, 3.7.6).
  bool whole_lines = false;
};

struct InstructionEffects {
  static constexpr std::size_t kAccesses = 2;  // a string move has two, all else one

  std::uint8_t length = 0;
  std::uint8_t access_count = 0;
  std::array<MemoryAccess, kAccesses> accesses{};
  bool has_other_accesses = false;                // that no registers tell the address of: gathers, %gs
  bool is_repeated = false;                       // a string instruction that repeats itself
  RegisterSet written = 0;                        // otherwise than by a step
  std::int8_t stepped = MemoryOperand::kNone;     // a register that it moves on:
  std::int64_t step = 0;                          // by so much,
  RegisterSet step_by = 0;                        // or by these registers' values
  std::optional<std::int64_t> branch_distance{};  // from its end to where it may branch
};

// Decodes the instruction at `code`, of which `available` bytes may be read. Nothing where the bytes are no
// instruction. Async-signal-safe.
std::optional<InstructionEffects> decode_effects(const std::uint8_t* code, std::size_t available) noexcept;

}  // namespace nvmemu
