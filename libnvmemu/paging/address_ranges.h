// SPDX-License-Identifier: Apache-2.0
// A set of addresses, as ranges that do not touch. Not thread-safe; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/address_range.h"

namespace nvmemu {

class AddressRanges {
 public:
  // As many as a process may have mappings, by default.
  static constexpr std::size_t kMost = 1U << 17;

  // False where there is no memory.
  bool open() noexcept;
  void close() noexcept;

  // False where there are too many ranges, and nothing has changed.
  bool add(AddressRange range) noexcept;
  bool remove(AddressRange range) noexcept;

  // The range that this lies in; an empty one where it lies in none.
  AddressRange at(std::uintptr_t address) const noexcept;
  // The first part of `within` that is in the set; an empty one where none is.
  AddressRange first_in(AddressRange within) const noexcept {
    const std::size_t i = first_that_ends_after(within.begin);
    return i < count_ && ranges_[i].begin < within.end ? intersection(ranges_[i], within) : AddressRange{};
  }
  bool contains(std::uintptr_t address) const noexcept { return !at(address).empty(); }

  // Each part of `within` that is in the set, in order: visit(range). `visit` must not change the set.
  template <typename Visit>
  void for_each(AddressRange within, Visit visit) const {
    for (std::size_t i = first_that_ends_after(within.begin); i < count_ && ranges_[i].begin < within.end;
         ++i)
      visit(intersection(ranges_[i], within));
  }

  std::size_t count() const noexcept { return count_; }
  std::uintptr_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t first_that_ends_after(std::uintptr_t address) const noexcept;
  void replace(std::size_t first, std::size_t last, const AddressRange* with, std::size_t count) noexcept;

  AddressRange* ranges_ = nullptr;
  std::size_t count_ = 0;
  std::uintptr_t bytes_ = 0;
};

}  // namespace nvmemu
