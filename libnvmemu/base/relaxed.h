// SPDX-License-Identifier: Apache-2.0
// The order of what no other memory depends on.
#pragma once

#include <atomic>

namespace nvmemu {

inline constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace nvmemu
