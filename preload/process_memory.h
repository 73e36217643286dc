// SPDX-License-Identifier: Apache-2.0
// How much memory this process has, in bytes: proc(5), statm. Zeros where that cannot be read.
// Async-signal-safe.
#pragma once

#include <charconv>
#include <cstdint>

#include "base/page_bytes.h"
#include "base/read_file.h"

namespace nvmemu::preload {

struct ProcessMemory {
  std::uint64_t mapped = 0;  // touched or not: RLIMIT_AS is of it,
  std::uint64_t resident = 0;
  std::uint64_t data = 0;  // and RLIMIT_DATA of this part of what is mapped
};

inline ProcessMemory process_memory() noexcept {
  constexpr int kFields = 6, kMapped = 0, kResident = 1, kData = 5;
  char text[128];
  const char* const end = text + read_start_of("/proc/self/statm", text, sizeof text);
  std::uint64_t pages[kFields]{};
  const char* at = text;
  for (std::uint64_t& field : pages) {
    at = std::from_chars(at, end, field).ptr;
    if (at != end) ++at;
  }
  return {pages[kMapped] * kPageBytes, pages[kResident] * kPageBytes, pages[kData] * kPageBytes};
}

}  // namespace nvmemu::preload
