// SPDX-License-Identifier: Apache-2.0
// A recipe to native code: loads what the instruction names from WalkRegisters, runs it, saves what it
// writes. Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "walk/arena.h"
#include "walk/decode/stub_recipe.h"
#include "walk/guarded_access.h"

namespace nvmemu {

// No stub is longer: 16 general registers, four vectors and three masks loaded and saved, at most.
inline constexpr std::size_t kLongestStub = 768;

// Writes the code; its length. `clears_512`: registers are of 512 bits here, so AVX clears above 256.
std::size_t write_stub(const StubRecipe& recipe, bool clears_512, std::uint8_t* to) noexcept;

// Into the arena; null where that is full or closed.
Stub make_stub(const StubRecipe& recipe, bool clears_512, Arena& arena) noexcept;

// Whether registers that a called function must keep are left alone by it.
bool keeps_saved_registers(const StubRecipe& recipe) noexcept;

}  // namespace nvmemu
