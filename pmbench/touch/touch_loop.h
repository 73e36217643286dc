// SPDX-License-Identifier: Apache-2.0
// Writes to pages of memory that were not there before, and times each write by itself, while memory runs
// out.
#pragma once

#include <atomic>
#include <cstdint>

#include "measure/timer.h"
#include "pattern/pattern.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

inline constexpr std::uint64_t kTouchPageBytes = 4096;

// What is looked at from time to time in the loop: neither allocates nor takes memory for the first time.
class MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;
  struct Sample {
    std::uint64_t rss_bytes = 0, swap_free_bytes = 0;
  };
  virtual Sample sample() noexcept = 0;
};

struct TouchLoopRequest {
  std::byte* memory = nullptr;
  std::uint64_t touches = 0;
  ChosenTimer timer{};
  std::uint64_t least_swap_free_bytes = 0;  // below which it ends
};

// By the calling thread. `order` draws pages below the memory's. All but `reclaim` of the result.
TouchRun touch_pages(const TouchLoopRequest& request, Pattern& order, MemoryWatch& watch,
                     const std::atomic<bool>& stop);

}  // namespace nvmemu::pmbench
