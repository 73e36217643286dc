// SPDX-License-Identifier: Apache-2.0
// Bytes to a MicroOp. Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "walk/micro_op.h"
#include "walk/stub_recipe.h"

namespace nvmemu {

struct DecodedOp {
  MicroOp op;
  StubRecipe recipe;  // where op.kind is kNative
};

// Of the bytes at `code`, of which `available` may be read, as if they lay at `address`. False where they are
// no instruction, or not all of one. What the processor (`vectors`) has no registers for is a kStop.
bool decode_op(const std::uint8_t* code, std::size_t available, std::uint64_t address, VectorState vectors,
               DecodedOp& to) noexcept;

}  // namespace nvmemu
