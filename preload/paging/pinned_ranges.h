// SPDX-License-Identifier: Apache-2.0
// The ranges of memory that the kernel has been given by a thread's calls, in any number that a call can
// name: some in place, more in memory that is mapped when first there are so many, and kept.
// Async-signal-safe; not thread-safe.
#pragma once

#include <array>
#include <cstddef>

#include "paging/address_ranges.h"

namespace nvmemu::preload {

class PinnedRanges {
 public:
  // False: there is no memory for more, or there are more than any call needs.
  bool add(AddressRange range) noexcept;
  void shrink_to(std::size_t count) noexcept { count_ = count; }
  std::size_t size() const noexcept { return count_; }
  AddressRange& operator[](std::size_t i) noexcept { return i < kInPlace ? first_[i] : more_[i - kInPlace]; }

 private:
  static constexpr std::size_t kInPlace = 64;
  // 1,024 messages (UIO_MAXIOV) of 64 parts each and what describes them; 2 MiB, of which only what is used
  // is there.
  static constexpr std::size_t kMore = std::size_t{1} << 17;

  std::array<AddressRange, kInPlace> first_{};
  AddressRange* more_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace nvmemu::preload
