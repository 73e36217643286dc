// SPDX-License-Identifier: Apache-2.0
// How much this process has mapped, touched or not, in bytes: proc(5), statm. Zeros where that cannot be
// read. Async-signal-safe.
#pragma once

#include <charconv>
#include <cstdint>

#include "base/page_bytes.h"
#include "base/read_file.h"

namespace nvmemu::preload {

struct MappedBytes {
  std::uint64_t all = 0;   // RLIMIT_AS is of it,
  std::uint64_t data = 0;  // and RLIMIT_DATA of this part
};

inline MappedBytes mapped_bytes() noexcept {
  constexpr int kFields = 6, kAll = 0, kData = 5;
  char text[128];
  const char* const end = text + read_start_of("/proc/self/statm", text, sizeof text);
  std::uint64_t pages[kFields]{};
  const char* at = text;
  for (std::uint64_t& field : pages) {
    at = std::from_chars(at, end, field).ptr;
    if (at != end) ++at;
  }
  return {pages[kAll] * kPageBytes, pages[kData] * kPageBytes};
}

}  // namespace nvmemu::preload
