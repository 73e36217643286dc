// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nvmemu {

// A page of memory, of the smaller kind: on x86-64, and on arm64 as Debian builds its kernels.
inline constexpr std::uintptr_t kPageBytes = 4096;

// So many bytes as pages have that hold `bytes`.
constexpr std::uintptr_t whole_pages(std::uintptr_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

}  // namespace nvmemu
