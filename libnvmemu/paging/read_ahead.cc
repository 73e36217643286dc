// SPDX-License-Identifier: Apache-2.0
#include "paging/read_ahead.h"

#include <bit>
#include <limits>

namespace nvmemu {

SlotRange AdaptiveReadAhead::around(std::uint64_t slot) noexcept {
  constexpr int kMost = std::numeric_limits<decltype(near_)>::digits;
  const std::uint64_t distance = slot > last_slot_ ? slot - last_slot_ : last_slot_ - slot;
  near_ = static_cast<std::uint16_t>(near_ << 1 | (distance <= kWindow ? 1 : 0));
  last_slot_ = slot;
  if (!is_on_ && 2 * std::popcount(near_) > kMost) {
    is_on_ = true;
    used_ = dropped_ = 0;
  }
  return is_on_ ? window_.around(slot) : SlotRange{slot, slot + 1};
}

void AdaptiveReadAhead::used() noexcept {
  ++used_;
  judge();
}

void AdaptiveReadAhead::dropped() noexcept {
  ++dropped_;
  judge();
}

// What is longer ago counts for less.
void AdaptiveReadAhead::judge() noexcept {
  constexpr unsigned kSome = 64;
  if (used_ + dropped_ < kSome) return;
  if (is_on_ && used_ <= dropped_) {
    is_on_ = false;
    near_ = 0;
  }
  used_ /= 2;
  dropped_ /= 2;
}

ReadAhead& ReadAheads::operator[](ReadAheadKind kind) noexcept {
  switch (kind) {
    case ReadAheadKind::kWindow:
      return window_;
    case ReadAheadKind::kAdaptive:
      return adaptive_;
    case ReadAheadKind::kNone:
      break;
  }
  return none_;
}

}  // namespace nvmemu
