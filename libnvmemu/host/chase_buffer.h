// SPDX-License-Identifier: Apache-2.0
// Memory made into a pointer chase: a random cycle of cache lines, each holding the address of the next, so
// that no load can start before the last has ended and no prefetcher can guess it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/page_bytes.h"
#include "base/result.h"

namespace nvmemu {

enum class Pages { kHuge, kSmall };

class ChaseBuffer {
 public:
  static constexpr std::size_t kLineBytes = 64;
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  // Maps `bytes` (a multiple of 2 MiB, > 0), aligned to 2 MiB, and links every line into one cycle.
  static Result<ChaseBuffer> of_all_lines(std::size_t bytes, Pages pages);

  // The same, with one line of each 4 KiB, at a random place in it.
  static Result<ChaseBuffer> of_one_line_per_page(std::size_t bytes, Pages pages);

  ChaseBuffer(ChaseBuffer&& other) noexcept;
  ChaseBuffer& operator=(ChaseBuffer&& other) noexcept;
  ~ChaseBuffer();

  const void* start() const { return start_; }  // a line of the cycle
  std::size_t loads() const { return loads_; }  // of one round: lines in the cycle
  std::size_t bytes() const { return bytes_; }
  const std::byte* data() const { return data_; }
  bool has_huge_pages() const { return has_huge_pages_; }  // the kernel gave them, not only was asked

 private:
  ChaseBuffer() = default;
  static Result<ChaseBuffer> map(std::size_t bytes, Pages pages);
  Result<void> link(std::size_t stride);

  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  const void* start_ = nullptr;
  std::size_t loads_ = 0;
  bool has_huge_pages_ = false;
};

// Makes `loads` (> 0) dependent loads from `line` on; where they end.
const void* chase(const void* line, std::size_t loads) noexcept;

// ns for each of `loads` (> 0) loads from `line` on; `line` moves to where they end. It is the mean of the
// undisturbed pieces of 1024 loads: when the thread is preempted, its page tables leave the caches, and for
// some milliseconds it is slower by up to a half, which says nothing about the memory.
double timed_chase_ns(const Clock& clock, const void*& line, std::size_t loads);

// Throws the next `loads` lines from `line` on out of every cache: each is loaded, for the address of the
// next, and then flushed. Page tables stay as cached as a chase leaves them, since it touches them in the
// same order.
void flush_ahead(const void* line, std::size_t loads) noexcept;

}  // namespace nvmemu
