// SPDX-License-Identifier: Apache-2.0
#include "workloads/mix.h"

namespace nvmemu::workloads {

[[gnu::noinline]] std::uint64_t mix(std::uint64_t value, std::uint64_t rounds) noexcept {
  for (; rounds > 0; --rounds) {  // xorshift*: Marsaglia, "Xorshift RNGs", 2003, with a multiplication
    value ^= value >> 12;
    value ^= value << 25;
    value ^= value >> 27;
    value *= 0x2545f4914f6cdd1d;
  }
  return value;
}

}  // namespace nvmemu::workloads
