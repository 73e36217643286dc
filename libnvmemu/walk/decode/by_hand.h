// SPDX-License-Identifier: Apache-2.0
// Which instructions a walk executes by hand: what is frequent and simple, and what a stub cannot do (control
// flow, the stack). Async-signal-safe.
#pragma once

#include "walk/decode/micro_op.h"
#include "walk/decode/zydis_decode.h"

namespace nvmemu {

// Sets the kind of `op` and what belongs to it, and op.stop to kNone; false: it is left as it is.
bool decode_by_hand(const ZydisDecoded& decoded, MicroOp& op) noexcept;

}  // namespace nvmemu
