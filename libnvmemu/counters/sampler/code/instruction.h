// SPDX-License-Identifier: Apache-2.0
// One x86-64 instruction, as far as the sampler cares: what can hold retirement up behind it.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "counters/counts.h"

namespace nvmemu {

// Whether this processor's code can be decoded. Without that no sample says what was waited for, and the
// sampler does not open.
#if defined(__x86_64__)
inline constexpr bool kDecodes = true;
#else
inline constexpr bool kDecodes = false;
#endif

struct Instruction {
  StallKind kind = StallKind::kOther;
  std::uint8_t length = 0;       // bytes, 1 to 15
  bool falls_through = true;     // false: after it, execution never goes on at the next address
  bool compares_memory = false;  // it reads memory, and sets the flags and nothing else
  bool jumps_if = false;         // a conditional jump, by
  std::int32_t jump = 0;         // so many bytes from the next instruction
};

// Decodes the instruction at `code`, of which `available` bytes may be read. Nothing where the bytes are no
// instruction. Async-signal-safe: Zydis keeps no state and allocates nothing.
std::optional<Instruction> decode_instruction(const std::uint8_t* code, std::size_t available) noexcept;

}  // namespace nvmemu
