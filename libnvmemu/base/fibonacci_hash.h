// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nvmemu {

// Knuth, The Art of Computer Programming, volume 3, 6.4: multiplied by 2^64 over the golden ratio, numbers
// that are neighbours lie far apart. The higher a bit of it, the more bits of the number it depends on:
// tables take the highest.
constexpr std::uint64_t fibonacci_hash(std::uint64_t number) noexcept { return number * 0x9E3779B97F4A7C15; }

}  // namespace nvmemu
