// SPDX-License-Identifier: Apache-2.0
// A decoded instruction to the recipe of its stub. Async-signal-safe.
#pragma once

#include <cstdint>

#include "walk/decode/stub_recipe.h"
#include "walk/decode/zydis_decode.h"

namespace nvmemu {

// kNone, and `recipe`; or why the instruction is not to be executed. `code`: the instruction's own bytes.
WalkStop build_recipe(const ZydisDecoded& decoded, const std::uint8_t* code, VectorState vectors,
                      StubRecipe& recipe) noexcept;

}  // namespace nvmemu
