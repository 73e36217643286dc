// SPDX-License-Identifier: Apache-2.0
// Patterns that go through the pages in an order. They draw without random numbers.
#pragma once

#include <cstdint>
#include <memory>

#include "pattern/pattern.h"
#include "pattern/permutation.h"

namespace nvmemu::pmbench {

// Every `stride`-th page, round and round.
class Stride {
 public:
  Stride(std::uint64_t pages, std::uint64_t stride, std::uint64_t start) noexcept
      : pages_(pages), stride_(stride % pages), at_(start % pages) {}
  std::uint64_t next() noexcept {
    const std::uint64_t page = at_;
    at_ += stride_;
    if (at_ >= pages_) at_ -= pages_;
    return page;
  }

 private:
  std::uint64_t pages_, stride_, at_;
};

// All pages in one random cycle, as a chase of pointers from page to page visits them. An access starts when
// the one before it is done, whatever the pattern, so that the order is all that there is to a chase.
class Chase {
 public:
  Chase(std::uint64_t pages, std::uint64_t seed, std::uint64_t start) noexcept
      : order_(pages, seed), walk_(pages, 1, start) {}
  std::uint64_t next() noexcept { return order_(walk_.next()); }

 private:
  Permutation order_;
  Stride walk_;
};

class Replay {
 public:
  Replay(std::shared_ptr<const Trace> trace, std::uint64_t start) noexcept
      : trace_(std::move(trace)), walk_(trace_->size(), 1, start) {}
  std::uint64_t next() noexcept { return (*trace_)[walk_.next()]; }

 private:
  std::shared_ptr<const Trace> trace_;
  Stride walk_;
};

}  // namespace nvmemu::pmbench
