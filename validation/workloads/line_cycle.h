// SPDX-License-Identifier: Apache-2.0
// Memory made into one random cycle of cache lines: each line holds the address of the next, so that a load
// can start only when the one before it has ended, and no prefetcher guesses where it goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "workloads/page_buffer.h"

namespace nvmemu::workloads {

constexpr std::size_t kLineBytes = 64;

struct alignas(kLineBytes) Line {
  const Line* next;
};

class LineCycle {
 public:
  // The most that a cycle may hold: lines are numbered in 32 bits while they are shuffled.
  static constexpr std::uint64_t kMaxBytes = (std::uint64_t{1} << 32) * kLineBytes - kLineBytes;

  // `bytes`: a multiple of kLineBytes, up to kMaxBytes, at least `chains` lines. `chains` >= 1. The same seed
  // gives the same order.
  static Result<LineCycle> create(std::size_t bytes, PageSize page_size, std::uint64_t seed, unsigned chains);

  // Where each chain starts: at equal distances along the cycle, so that chains moving in step never meet.
  const std::vector<const Line*>& starts() const { return starts_; }

  std::size_t line_count() const { return buffer_.bytes() / kLineBytes; }

  // A line's number, by address: what does not depend on where the memory happens to lie.
  std::size_t index_of(const Line* line) const;

  const PageBuffer& buffer() const { return buffer_; }

 private:
  explicit LineCycle(PageBuffer buffer) : buffer_(std::move(buffer)) {}
  void link(const std::vector<std::uint32_t>& order);

  PageBuffer buffer_;
  std::vector<const Line*> starts_;
};

}  // namespace nvmemu::workloads
