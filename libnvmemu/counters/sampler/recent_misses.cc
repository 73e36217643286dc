// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/recent_misses.h"

#include <algorithm>

namespace nvmemu {
namespace {

// A few hundred addresses stand for a set of any size: what is within this of one, up or down, is taken for
// part of the same.
constexpr std::uintptr_t kNear = std::uintptr_t{2} << 20;

}  // namespace

void RecentMisses::add(std::uintptr_t address) noexcept { addresses_[added_++ % kKept] = address; }

std::uintptr_t RecentMisses::next() noexcept {
  if (added_ == 0) return 0;
  // xorshift64: the spread matters, not the quality.
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const std::uintptr_t seen = addresses_[(random_ >> 32) % std::min(added_, kKept)];
  return seen - kNear + random_ % (2 * kNear);
}

void RecentMisses::revisit() noexcept {
  constexpr int kRead = 0;
  constexpr int kNoLocality = 0;  // prefetchnta
  const std::uintptr_t address = next();
  if (address != 0) __builtin_prefetch(reinterpret_cast<const void*>(address), kRead, kNoLocality);
}

}  // namespace nvmemu
