// SPDX-License-Identifier: Apache-2.0
// Tiers: parts of a program's memory that are emulated as different memories.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

// 0 is the machine's own memory, or what stands for it (--read-latency); the others are what --tier adds.
using TierId = std::uint8_t;
inline constexpr std::size_t kMostTiers = 8;

template <typename T>
using ByTier = std::array<T, kMostTiers>;

}  // namespace nvmemu
