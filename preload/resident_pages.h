// SPDX-License-Identifier: Apache-2.0
// Which of a range's pages are in memory (mincore(2)). Async-signal-safe.
#pragma once

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/page_bytes.h"
#include "base/raw_syscall.h"

namespace nvmemu::preload {

// `work(first, bytes, is_resident)` for each run of pages that are all there or all not, one after the other.
// Where the kernel does not tell, they are not. `address`: a page's.
template <typename Work>
void for_each_run(std::uintptr_t address, std::size_t bytes, const Work& work) noexcept {
  std::array<unsigned char, 512> resident;  // NOLINT(*-member-init): mincore fills what is read
  const std::uintptr_t end = address + bytes;
  while (address < end) {
    const std::size_t pages = std::min(resident.size(), (end - address + kPageBytes - 1) / kPageBytes);
    if (is_error(raw_syscall(SYS_mincore, address, pages * kPageBytes, resident.data()))) resident.fill(0);
    for (std::size_t first = 0; first < pages;) {
      std::size_t last = first;
      while (last < pages && (resident[last] & 1) == (resident[first] & 1)) ++last;
      work(address + first * kPageBytes, (last - first) * kPageBytes, (resident[first] & 1) != 0);
      first = last;
    }
    address += pages * kPageBytes;
  }
}

}  // namespace nvmemu::preload
