// SPDX-License-Identifier: Apache-2.0
// An array of plain values in memory of its own, in pages of a chosen size.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "workloads/page_buffer.h"

namespace nvmemu::workloads {

template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // `count` > 0 values, zeroed.
  static Result<Array> create(std::uint64_t count, PageSize page_size) {
    auto buffer = PageBuffer::create(count * sizeof(T), page_size);
    if (!buffer) return tl::unexpected<Error>(buffer.error());
    return Array(*std::move(buffer));
  }

  T* data() const { return reinterpret_cast<T*>(buffer_.data()); }
  T& operator[](std::uint64_t at) const { return data()[at]; }
  std::uint64_t size() const { return buffer_.bytes() / sizeof(T); }
  bool has_huge_pages() const { return buffer_.has_huge_pages(); }

 private:
  explicit Array(PageBuffer buffer) : buffer_(std::move(buffer)) {}
  PageBuffer buffer_;
};

}  // namespace nvmemu::workloads
