// SPDX-License-Identifier: Apache-2.0
// Which memory a thread has streamed over lately: what is read again soon after comes from a cache, and is no
// traffic. "Soon" is told in bytes that were fetched since. Pure arithmetic; async-signal-safe; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class RecentRanges {
 public:
  // `cache_bytes`: what the thread's caches hold of the last bytes that it fetched.
  explicit RecentRanges(double cache_bytes) : cache_bytes_(cache_bytes) {}

  // Of [begin, end), the bytes that are in no cache any more; with `written_only`, those that the caches hold
  // no written lines of.
  double fresh_bytes(std::uintptr_t begin, std::uintptr_t end, bool written_only) const noexcept;

  // The thread has read, or `written`, that range; `fetched_bytes` of it came from memory.
  void add(std::uintptr_t begin, std::uintptr_t end, bool written, double fetched_bytes) noexcept;

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    double position = 0;  // bytes fetched until it had been passed
    bool written = false;
  };
  static constexpr std::size_t kRanges = 64;

  bool is_held(const Range& range) const noexcept {
    return range.end > range.begin && position_ - range.position < cache_bytes_;
  }

  std::array<Range, kRanges> ranges_{};
  std::size_t next_ = 0;
  double cache_bytes_;
  double position_ = 0;
};

}  // namespace nvmemu
