// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/traffic/recent_ranges.h"

#include <algorithm>

namespace nvmemu {

// Where there is no more room, what was passed longest ago is forgotten.
void RecentRanges::insert(std::size_t at, const Range& range) noexcept {
  if (at >= kRanges) return;
  count_ = std::min(count_ + 1, kRanges);
  std::copy_backward(ranges_.begin() + static_cast<std::ptrdiff_t>(at),
                     ranges_.begin() + static_cast<std::ptrdiff_t>(count_ - 1),
                     ranges_.begin() + static_cast<std::ptrdiff_t>(count_));
  ranges_[at] = range;
}

// Takes `passed` out of all ranges, and forgets those that lie so deep that no cache holds them. How much of
// it caches held; and whether most of that was written.
double RecentRanges::cut_out(const Range& passed, bool& was_written) noexcept {
  double depth_bytes = 0;  // passed since
  double held_bytes = 0;
  double written_bytes = 0;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const Range range = ranges_[i];
    if (depth_bytes >= cache_bytes_) break;
    depth_bytes += range.bytes();
    const Range overlap{std::max(range.begin, passed.begin), std::min(range.end, passed.end)};
    held_bytes += overlap.bytes();
    if (range.written) written_bytes += overlap.bytes();
    const Range left{range.begin, overlap.bytes() > 0 ? overlap.begin : range.end, range.written};
    const Range right{overlap.bytes() > 0 ? overlap.end : range.end, range.end, range.written};
    if (left.bytes() > 0) ranges_[kept++] = left;
    if (right.bytes() <= 0) continue;
    if (kept <= i) {
      ranges_[kept++] = right;
    } else {  // both are left: one more than there were
      insert(kept++, right);
      ++i;
    }
  }
  count_ = kept;
  was_written = written_bytes > held_bytes / 2;
  return held_bytes;
}

// A stream that goes on where it was makes one range of several, but not of so many that its beginning would
// be held for as long as its end.
void RecentRanges::put_first(Range range) noexcept {
  const double longest = cache_bytes_ / 8;
  for (std::size_t i = 0; i < count_; ++i) {
    const Range& before = ranges_[i];
    if (before.written != range.written || before.bytes() + range.bytes() > longest) continue;
    if (before.end != range.begin && before.begin != range.end) continue;
    range.begin = std::min(range.begin, before.begin);
    range.end = std::max(range.end, before.end);
    std::copy(ranges_.begin() + static_cast<std::ptrdiff_t>(i + 1),
              ranges_.begin() + static_cast<std::ptrdiff_t>(count_),
              ranges_.begin() + static_cast<std::ptrdiff_t>(i));
    --count_;
    break;
  }
  insert(0, range);
}

RecentRanges::Fresh RecentRanges::pass(std::uintptr_t begin, std::uintptr_t end, bool writes) noexcept {
  Range passed{begin, end, writes};
  if (passed.bytes() <= 0) return {};
  bool was_written = false;
  const double held_bytes = cut_out(passed, was_written);
  passed.written |= was_written;
  put_first(passed);
  const double fresh_bytes = passed.bytes() - held_bytes;
  return {fresh_bytes, was_written ? fresh_bytes : passed.bytes()};
}

}  // namespace nvmemu
