// SPDX-License-Identifier: Apache-2.0
// Random numbers where they must spread, and need no quality: in signal handlers, say.
#pragma once

#include <cstdint>

namespace nvmemu {

// What follows `state`, which must not be 0, and never is then: xorshift64, G. Marsaglia, "Xorshift RNGs",
// 2003. Async-signal-safe.
constexpr std::uint64_t next_xorshift(std::uint64_t state) noexcept {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^ state << 17;
}

}  // namespace nvmemu
