// SPDX-License-Identifier: Apache-2.0
// Pages of a file by offsets, in bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "storage/volume.h"

namespace nvmemu {

// What a request is of at most: 4 MiB, as Linux writes back.
inline constexpr std::uint32_t kBatchPages = 1024;

inline std::uint32_t page_of(std::uint64_t offset) noexcept {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(offset / kPageBytes, 0xfffffffeU));
}

inline std::uint32_t end_page(const FileRange& range) noexcept {
  return page_of(range.offset + std::max<std::uint64_t>(range.bytes, 1) - 1) + 1;
}

}  // namespace nvmemu
