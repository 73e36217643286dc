// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nvmemu {

// Empties its thread's TLB of the process' translations (and, on processors that run its other threads,
// theirs): more pages than the kernel flushes one by one (33, tlb_single_page_flush_ceiling) change their
// permissions. All of them map the kernel's zero page and take no memory. Of one thread, since another's
// reads would meet the pages without permission. Async-signal-safe.
class TlbFlusher {
 public:
  void flush() noexcept;  // without effect where no pages can be had
  void close() noexcept;
  void abandon() noexcept { pages_ = nullptr; }

 private:
  static constexpr std::size_t kBytes = std::size_t{40} * 4096;
  char* pages_ = nullptr;
};

}  // namespace nvmemu
