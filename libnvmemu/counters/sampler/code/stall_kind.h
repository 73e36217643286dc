// SPDX-License-Identifier: Apache-2.0
// What can hold retirement up behind an instruction.
#pragma once

#include "counters/counts.h"
#include "walk/decode/micro_op.h"

namespace nvmemu {

constexpr StallKind stall_kind(const MicroOp& op) noexcept {
  if (op.kind == OpKind::kFlush || op.kind == OpKind::kFence) return StallKind::kPersist;
  if (op.is_locked) return StallKind::kLocked;
  if (op.reads_memory || op.kind == OpKind::kGather) return StallKind::kLoad;
  return op.writes_memory || op.kind == OpKind::kScatter ? StallKind::kStore : StallKind::kOther;
}

constexpr bool compares_memory(const MicroOp& op) noexcept { return op.is_compare && op.reads_memory; }

}  // namespace nvmemu
