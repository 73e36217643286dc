// SPDX-License-Identifier: Apache-2.0
// How a structure reads its memory: plainly, or with every access timed. The code of a structure is a
// template of this, so that its instrumented twin does the same, access by access.
#pragma once

#include <cstdint>

#include "host/timed_load.h"

namespace nvmemu::workloads {

struct PlainAccess {
  // Where an object is that will be read next. It lies within one cache line, or its first byte stands for
  // it.
  template <typename T>
  const T* operator()(const T* object) const noexcept {
    return object;
  }
};

// Times the load of each line before it is used, between fences, and counts.
class TimedAccess {
 public:
  // A reading above `threshold_ticks`, overhead included, came from memory.
  explicit TimedAccess(std::uint64_t threshold_ticks) : threshold_ticks_(threshold_ticks) {}

  template <typename T>
  const T* operator()(const T* object) noexcept {
    const std::uint64_t ticks = timed_load_ticks(object);
    ++accesses_;
    if (ticks > threshold_ticks_) {
      ++from_memory_;
      // An interrupt in between is no property of the memory.
      if (ticks < kLongestReading * threshold_ticks_) {
        memory_ticks_ += ticks;
        ++readings_;
      }
    }
    return object;
  }

  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t from_memory() const { return from_memory_; }

  // The mean of the readings from memory, overhead included; 0 where there were none.
  double memory_ticks() const {
    return readings_ > 0 ? static_cast<double>(memory_ticks_) / static_cast<double>(readings_) : 0;
  }

 private:
  static constexpr std::uint64_t kLongestReading = 20;

  std::uint64_t threshold_ticks_;
  std::uint64_t accesses_ = 0, from_memory_ = 0;
  std::uint64_t memory_ticks_ = 0, readings_ = 0;
};

}  // namespace nvmemu::workloads
