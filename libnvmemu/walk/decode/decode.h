// SPDX-License-Identifier: Apache-2.0
// Bytes to a MicroOp: the one decoder. Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "walk/decode/micro_op.h"
#include "walk/decode/stub_recipe.h"

namespace nvmemu {

// Whether this processor's code can be decoded.
#if defined(__x86_64__)
inline constexpr bool kDecodes = true;
#else
inline constexpr bool kDecodes = false;
#endif

// What says how to pass over an instruction.
struct OpOutline {
  std::uint8_t length = 0;  // 0: it is none, or not all of one
  Flow flow = Flow::kOn;
  bool has_target = false;   // no register or memory names where control goes, but
  std::uint64_t target = 0;  // it itself
};

// Of the bytes at `code`, of which `available` may be read, as if they lay at `address`. Takes half as long
// as decode_op().
OpOutline outline_op(const std::uint8_t* code, std::size_t available, std::uint64_t address) noexcept;

// All of it that no stub is needed for: what only one could execute is a kStop. False where outline_op() has
// no length.
bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, MicroOp& op) noexcept;

struct DecodedOp {
  MicroOp op;
  StubRecipe recipe;  // where op.kind is kNative
};

// As a walk executes it. What the processor (`vectors`) has no registers for is a kStop.
bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, VectorState vectors,
               DecodedOp& to) noexcept;

}  // namespace nvmemu
