// SPDX-License-Identifier: Apache-2.0
// Memory in pages of a chosen size.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace nvmemu::workloads {

enum class PageSize { k4KiB, k2MiB };

// Zeroed private memory, aligned to 2 MiB, all of it touched (so that it lies on the node of the thread that
// made it, and no page fault is left for whoever times it). Movable; unmapped at the end.
class PageBuffer {
 public:
  // `bytes` > 0. 2 MiB pages are asked for with madvise(2): transparent huge pages, which the kernel may
  // refuse.
  static Result<PageBuffer> create(std::size_t bytes, PageSize page_size);

  PageBuffer(PageBuffer&& other) noexcept;
  PageBuffer& operator=(PageBuffer&& other) noexcept;
  ~PageBuffer();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  bool has_huge_pages() const { return has_huge_pages_; }  // the kernel gave them

 private:
  PageBuffer() = default;
  void touch();

  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  bool has_huge_pages_ = false;
};

}  // namespace nvmemu::workloads
