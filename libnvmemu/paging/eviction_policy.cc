// SPDX-License-Identifier: Apache-2.0
#include "paging/eviction_policy.h"

#include "base/xorshift.h"

namespace nvmemu {

// Of all numbers that ever were a frame's, until one is listed: few are not.
Frames::Number RandomEviction::choose(Frames& frames) noexcept {
  constexpr int kTries = 64;
  for (int tried = 0; tried < kTries && frames.highest() != Frames::kNone; ++tried) {
    random_ = next_xorshift(random_);
    const auto number = static_cast<Frames::Number>(1 + (random_ >> 32) % frames.highest());
    if (frames.is_listed(number)) return number;
  }
  return frames.oldest();
}

Frames::Number ClockEviction::choose(Frames& frames) noexcept {
  Frames::Number number = frames.oldest();
  while (number != Frames::kNone && frames[number].was_of_use) {
    frames[number].was_of_use = false;
    frames.make_youngest(number);
    number = frames.oldest();
  }
  return number;
}

EvictionPolicy& EvictionPolicies::operator[](PolicyKind kind) noexcept {
  switch (kind) {
    case PolicyKind::kRandom:
      return random_;
    case PolicyKind::kClock:
      return clock_;
    case PolicyKind::kFifo:
      break;
  }
  return fifo_;
}

}  // namespace nvmemu
