// SPDX-License-Identifier: Apache-2.0
// Whether the code at an address is still what it was: generated code may be replaced.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/page_bytes.h"
#include "counters/sampler/code/guarded_read.h"

namespace nvmemu {

// FNV-1a over the 8 bytes before `ip`, as far as they are in its page; 0 where they cannot be read.
// Async-signal-safe.
inline std::uint32_t checksum_before(std::uintptr_t ip) noexcept {
  const std::uintptr_t start = std::max(ip & ~(kPageBytes - 1), ip - 8);
  if (!is_readable(start, ip)) return 0;  // unloaded since it was sampled
  std::uint32_t sum = 2166136261U;
  for (std::uintptr_t at = start; at < ip; ++at) {
    sum = (sum ^ *reinterpret_cast<const std::uint8_t*>(at)) * 16777619U;
  }
  return sum;
}

}  // namespace nvmemu
