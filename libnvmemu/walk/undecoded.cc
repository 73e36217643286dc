// SPDX-License-Identifier: Apache-2.0
// For processors whose code is not decoded yet: no instruction is known, so that none is taken for a load,
// and none can be walked.
#include "walk/decode/decode.h"
#include "walk/guarded_access.h"

namespace nvmemu {

static_assert(!kDecodes);

OpOutline outline_op(const std::uint8_t*, std::size_t, std::uint64_t) noexcept { return {}; }

bool decode_op(const std::uint8_t*, std::size_t, std::uint64_t, MicroOp&) noexcept { return false; }

bool leave_walk(ucontext_t&) noexcept { return false; }

}  // namespace nvmemu
