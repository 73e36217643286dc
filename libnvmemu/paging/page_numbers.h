// SPDX-License-Identifier: Apache-2.0
// The pages of a range of addresses: those that lie in it as a whole or in part. What programs take for
// addresses may be anything.
#pragma once

#include <algorithm>
#include <cstdint>

#include "paging/address_ranges.h"
#include "paging/page_device.h"
#include "paging/page_table.h"

namespace nvmemu {

constexpr std::uint64_t first_page(AddressRange range) {
  return std::min<std::uint64_t>(range.begin / kPageBytes, PageTable::kPages);
}
constexpr std::uint64_t end_page(AddressRange range) {
  if (range.empty()) return first_page(range);
  return std::min<std::uint64_t>((range.end - 1) / kPageBytes + 1, PageTable::kPages);
}
constexpr AddressRange whole_pages(AddressRange range) {
  return {first_page(range) * kPageBytes, end_page(range) * kPageBytes};
}

}  // namespace nvmemu
