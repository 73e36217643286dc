// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace nvmemu {

// From `begin` on, and below `end`.
struct AddressRange {
  std::uintptr_t begin = 0, end = 0;

  constexpr bool empty() const noexcept { return begin >= end; }
  constexpr std::uintptr_t bytes() const noexcept { return empty() ? 0 : end - begin; }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

inline AddressRange intersection(AddressRange a, AddressRange b) noexcept {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

}  // namespace nvmemu
