// SPDX-License-Identifier: Apache-2.0
// Which gathers and scatters a walk executes: AVX2's and AVX-512's, element by element. Async-signal-safe.
#pragma once

#include "walk/decode/micro_op.h"
#include "walk/decode/zydis_decode.h"

namespace nvmemu {

// As decode_by_hand().
bool decode_gather(const ZydisDecoded& decoded, MicroOp& op) noexcept;

}  // namespace nvmemu
