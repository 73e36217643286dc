// SPDX-License-Identifier: Apache-2.0
#include "paging/in_place_layout.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace nvmemu {

bool InPlaceLayout::open(std::uint64_t most) noexcept {
  end_ = std::min<std::uint64_t>(most, std::numeric_limits<Home>::max() - 1) + 1;
  homes_ = PageMap<Home>::create();
  return homes_ != nullptr;
}

void InPlaceLayout::close() noexcept {
  PageMap<Home>::destroy(homes_);
  homes_ = nullptr;
}

// Side by side for as many as are evicted together; for this one alone where there is no room for them.
void InPlaceLayout::settle_around(std::uint64_t page) noexcept {
  constexpr std::uint64_t kTogether = 64;
  const std::uint64_t left = end_ - next_;
  const std::uint64_t count = left >= kTogether ? kTogether : std::min<std::uint64_t>(left, 1);
  const std::uint64_t first = count == kTogether ? page / kTogether * kTogether : page;
  for (std::uint64_t i = 0; i < count; ++i) {
    Home* const home = homes_->get(first + i);
    if (home != nullptr && *home == kNoSlot) *home = static_cast<Home>(next_ + i);
  }
  next_ += count;
}

std::uint64_t InPlaceLayout::choose(std::uint64_t page, const Slots& slots) noexcept {
  const Home* const home = homes_->get(page);
  if (home == nullptr) return kNoSlot;
  if (*home == kNoSlot) settle_around(page);
  if (*home != kNoSlot && !slots.is_used(*home)) return *home;
  return slots.next_free(1, slots.end());  // there are none to own, or somebody had to take its own
}

void InPlaceLayout::moved(std::uint64_t from, std::uint64_t to) noexcept {
  Home* const before = homes_->get(from);
  Home* const after = homes_->get(to);
  if (before != nullptr && after != nullptr) std::swap(*before, *after);
}

}  // namespace nvmemu
