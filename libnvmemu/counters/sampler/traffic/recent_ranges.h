// SPDX-License-Identifier: Apache-2.0
// Which memory a thread has streamed over lately: what is read again soon after comes from a cache, and is no
// traffic. "Soon" is told in bytes of other memory that it has passed since, as a cache that replaces what
// was longest not used has it (LRU stack distance: Mattson et al., "Evaluation techniques for storage
// hierarchies", 1970). Pure arithmetic; async-signal-safe; one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

class RecentRanges {
 public:
  // `cache_bytes`: what the thread's caches hold.
  explicit RecentRanges(double cache_bytes) : cache_bytes_(cache_bytes) {}

  // Bytes of a range that the caches do not hold any more,
  struct Fresh {
    double bytes = 0;
    double unwritten_bytes = 0;  // and those of which they hold no written line: to be written back again
  };

  // The thread has read, or `writes`, [begin, end).
  Fresh pass(std::uintptr_t begin, std::uintptr_t end, bool writes) noexcept;

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool written = false;

    double bytes() const { return end > begin ? static_cast<double>(end - begin) : 0; }
  };
  static constexpr std::size_t kRanges = 64;

  double cut_out(const Range& passed, bool& was_written) noexcept;
  void insert(std::size_t at, const Range& range) noexcept;
  void put_first(Range range) noexcept;

  // Those last passed first; they do not overlap.
  std::array<Range, kRanges> ranges_{};
  std::size_t count_ = 0;
  double cache_bytes_;
};

}  // namespace nvmemu
