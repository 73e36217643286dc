// SPDX-License-Identifier: Apache-2.0
#include "paging/ahead_pages.h"

#include "base/mapped.h"

namespace nvmemu {

bool AheadPages::open() noexcept {
  contents_ = map_zeroed<std::byte>(kMost * kPageBytes);
  return contents_ != nullptr;
}

void AheadPages::close() noexcept {
  unmap(contents_, kMost * kPageBytes);
  contents_ = nullptr;
}

AheadPages::Begun AheadPages::begin(std::uint64_t slot) noexcept {
  for (std::size_t tried = 0; tried < kMost; ++tried) {
    const std::size_t at = next_;
    next_ = (next_ + 1) % kMost;
    const State was = pages_[at].state;
    if (was == State::kComing || was == State::kUnwanted) continue;
    if (was == State::kFree) ++count_;
    pages_[at] = {slot, State::kComing};
    return {at, was == State::kThere};
  }
  return {kNone, false};
}

bool AheadPages::finish(std::size_t at, bool is_read) noexcept {
  if (pages_[at].state == State::kComing && is_read) {
    pages_[at].state = State::kThere;
    return true;
  }
  free(at);
  return false;
}

std::size_t AheadPages::find(std::uint64_t slot) const noexcept {
  if (count_ == 0) return kNone;
  for (std::size_t at = 0; at < kMost; ++at) {
    const State state = pages_[at].state;
    if (pages_[at].slot == slot && (state == State::kThere || state == State::kComing)) return at;
  }
  return kNone;
}

bool AheadPages::forget(std::uint64_t slot) noexcept {
  const std::size_t at = find(slot);
  if (at == kNone) return false;
  if (is_coming(at)) {
    pages_[at].state = State::kUnwanted;
    return false;
  }
  free(at);
  return true;
}

void AheadPages::forget_all() noexcept {
  pages_ = {};
  count_ = 0;
}

void AheadPages::free(std::size_t at) noexcept {
  pages_[at] = {};
  --count_;
}

}  // namespace nvmemu
