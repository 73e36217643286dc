// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/recent_misses.h"

#include <algorithm>

#include "base/xorshift.h"

namespace nvmemu {
namespace {

// A few hundred addresses stand for a set of any size: what is within this of one, up or down, is taken for
// part of the same.
constexpr std::uintptr_t kNear = std::uintptr_t{2} << 20;

}  // namespace

void RecentMisses::add(std::uintptr_t address) noexcept { addresses_[added_++ % kKept] = address; }

std::uintptr_t RecentMisses::next() noexcept {
  if (added_ == 0) return 0;
  random_ = next_xorshift(random_);
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
