// SPDX-License-Identifier: Apache-2.0
// Which pages of a process the kernel has in memory, and on which of its nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "file_of_proc.h"

namespace nvmemu::preload {

class PresentPages {
 public:
  static constexpr int kUnknown = -1;

  // kOwn: those of no file that no other process has, too, as after a fork; of which nothing is known without
  // its pagemap.
  enum class Which { kAll, kOwn };

  // Of this process, or another; by its pagemap or, where that cannot be had, as move_pages(2) tells.
  explicit PresentPages(long pid = kOwnProcess, Which which = Which::kAll) noexcept;
  ~PresentPages();
  PresentPages(const PresentPages&) = delete;
  PresentPages& operator=(const PresentPages&) = delete;

  // `use(page, node)` for each page of `page_bytes` between `begin` and `end` that is there, in order.
  // `node`: on which all of them are, where that is known; else each is asked for, which takes five times as
  // long. Ends when `use` returns false. The kernel's page of zeros is none of the process's.
  template <typename Use>
  void for_each(std::uintptr_t begin, std::uintptr_t end, std::size_t page_bytes, int node,
                const Use& use) noexcept {
    if (which_ == Which::kOwn && fd_ < 0) return;
    while (begin < end) {
      const std::size_t count = look(begin, end, page_bytes, node);
      bool is_hole = true;
      for (std::size_t i = 0; i < count; ++i) {
        if (nodes_[i] < 0) continue;
        is_hole = false;
        if (!use(begin + i * page_bytes, nodes_[i])) return;
      }
      begin += count * page_bytes;
      if (is_hole && begin < end) begin += bytes_to_next(begin, end) / page_bytes * page_bytes;
    }
  }

 private:
  static constexpr std::size_t kAtOnce = 256;

  std::size_t look(std::uintptr_t begin, std::uintptr_t end, std::size_t page_bytes, int node) noexcept;
  // To the next page that is there, or the end; 0 where the kernel does not tell (Linux 6.7 does).
  std::size_t bytes_to_next(std::uintptr_t begin, std::uintptr_t end) const noexcept;
  std::size_t read_entries(std::uintptr_t begin, std::size_t count, std::size_t page_bytes) noexcept;

  long pid_, fd_;
  Which which_;
  std::array<std::uint64_t, kAtOnce> entries_;  // NOLINT(*-member-init): what is read is filled before
  std::array<int, kAtOnce> nodes_;              // NOLINT(*-member-init)
};

}  // namespace nvmemu::preload
