// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/recent_ranges.h"

#include <algorithm>

namespace nvmemu {
namespace {

// What is left of a range when others have been cut out of it, in a few pieces; a cut that would make one
// piece too many is left undone.
class Pieces {
 public:
  Pieces(std::uintptr_t begin, std::uintptr_t end) { pieces_[count_++] = {begin, end}; }

  void cut(std::uintptr_t begin, std::uintptr_t end) noexcept {
    for (std::size_t i = count_; i-- > 0;) {
      Piece& piece = pieces_[i];
      if (end <= piece.begin || begin >= piece.end) continue;
      const bool left = begin > piece.begin;
      const bool right = end < piece.end;
      if (left && right) {
        if (count_ == pieces_.size()) continue;
        pieces_[count_++] = {end, piece.end};
        piece.end = begin;
      } else if (left) {
        piece.end = begin;
      } else if (right) {
        piece.begin = end;
      } else {
        piece = pieces_[--count_];
      }
    }
  }

  double bytes() const noexcept {
    double total = 0;
    for (std::size_t i = 0; i < count_; ++i)
      total += static_cast<double>(pieces_[i].end - pieces_[i].begin);
    return total;
  }

 private:
  struct Piece {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  std::array<Piece, 8> pieces_{};
  std::size_t count_ = 0;
};

}  // namespace

double RecentRanges::fresh_bytes(std::uintptr_t begin, std::uintptr_t end, bool written_only) const noexcept {
  if (end <= begin) return 0;
  Pieces left(begin, end);
  for (const Range& range : ranges_) {
    if (is_held(range) && (range.written || !written_only)) left.cut(range.begin, range.end);
  }
  return left.bytes();
}

// A stream that goes on where it was makes one range of several, but not of so many that its beginning would
// be held for as long as its end.
void RecentRanges::add(std::uintptr_t begin, std::uintptr_t end, bool written,
                       double fetched_bytes) noexcept {
  if (end <= begin) return;
  position_ += fetched_bytes;
  const auto longest = static_cast<std::uintptr_t>(cache_bytes_ / 8);
  for (Range& range : ranges_) {
    if (range.written != written || !is_held(range)) continue;
    if (begin > range.end || end < range.begin) continue;
    const std::uintptr_t joined_begin = std::min(begin, range.begin);
    const std::uintptr_t joined_end = std::max(end, range.end);
    if (joined_end - joined_begin > longest) continue;
    range = {joined_begin, joined_end, position_, written};
    return;
  }
  ranges_[next_] = {begin, end, position_, written};
  next_ = (next_ + 1) % kRanges;
}

}  // namespace nvmemu
