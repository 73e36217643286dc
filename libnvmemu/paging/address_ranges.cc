// SPDX-License-Identifier: Apache-2.0
#include "paging/address_ranges.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "base/raw_syscall.h"

namespace nvmemu {

bool AddressRanges::open() noexcept {
  const long mapped = raw_syscall(SYS_mmap, nullptr, kMost * sizeof(AddressRange), PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (is_error(mapped)) return false;
  ranges_ = reinterpret_cast<AddressRange*>(mapped);
  return true;
}

void AddressRanges::close() noexcept {
  if (ranges_ != nullptr) raw_syscall(SYS_munmap, ranges_, kMost * sizeof(AddressRange));
  ranges_ = nullptr;
}

std::size_t AddressRanges::first_that_ends_after(std::uintptr_t address) const noexcept {
  const auto* const found =
      std::upper_bound(ranges_, ranges_ + count_, address,
                       [](std::uintptr_t value, const AddressRange& range) { return value < range.end; });
  return static_cast<std::size_t>(found - ranges_);
}

AddressRange AddressRanges::at(std::uintptr_t address) const noexcept {
  const std::size_t i = first_that_ends_after(address);
  return i < count_ && ranges_[i].begin <= address ? ranges_[i] : AddressRange{};
}

// Those from `first` to before `last` by `count` others.
void AddressRanges::replace(std::size_t first, std::size_t last, const AddressRange* with,
                            std::size_t count) noexcept {
  for (std::size_t i = first; i < last; ++i) bytes_ -= ranges_[i].bytes();
  std::memmove(ranges_ + first + count, ranges_ + last, (count_ - last) * sizeof(AddressRange));
  for (std::size_t i = 0; i < count; ++i) {
    ranges_[first + i] = with[i];
    bytes_ += with[i].bytes();
  }
  count_ = count_ - (last - first) + count;
}

bool AddressRanges::add(AddressRange range) noexcept {
  if (range.empty()) return true;
  if (count_ + 1 >= kMost) return false;
  // Those that it touches or overlaps become one with it.
  const std::size_t first = range.begin == 0 ? 0 : first_that_ends_after(range.begin - 1);
  std::size_t last = first;
  for (; last < count_ && ranges_[last].begin <= range.end; ++last) {
    range.begin = std::min(range.begin, ranges_[last].begin);
    range.end = std::max(range.end, ranges_[last].end);
  }
  replace(first, last, &range, 1);
  return true;
}

bool AddressRanges::remove(AddressRange range) noexcept {
  if (range.empty()) return true;
  if (count_ + 1 >= kMost) return false;
  const std::size_t first = first_that_ends_after(range.begin);
  AddressRange left[2];
  std::size_t pieces = 0;
  std::size_t last = first;
  for (; last < count_ && ranges_[last].begin < range.end; ++last) {
    if (ranges_[last].begin < range.begin) left[pieces++] = {ranges_[last].begin, range.begin};
    if (ranges_[last].end > range.end) left[pieces++] = {range.end, ranges_[last].end};
  }
  replace(first, last, left, pieces);
  return true;
}

}  // namespace nvmemu
