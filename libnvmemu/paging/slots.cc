// SPDX-License-Identifier: Apache-2.0
#include "paging/slots.h"

#include <algorithm>
#include <bit>

#include "base/mapped.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kWordBits = 64;
constexpr std::uint64_t words_for(std::uint64_t end) { return end / kWordBits + 1; }

}  // namespace

bool Slots::open(std::uint64_t most) noexcept {
  end_ = most + 1;  // the first is none
  words_ = map_zeroed<std::uint64_t>(words_for(end_));
  owners_ = map_zeroed<std::uint64_t>(end_);
  return words_ != nullptr && owners_ != nullptr;
}

void Slots::close() noexcept {
  unmap(words_, words_for(end_));
  unmap(owners_, end_);
  words_ = owners_ = nullptr;
}

template <bool kUsed>
std::uint64_t Slots::next(std::uint64_t from, std::uint64_t end) const noexcept {
  for (std::uint64_t slot = from; slot < end;) {
    const std::uint64_t word = words_[slot / kWordBits];
    const std::uint64_t found = (kUsed ? word : ~word) >> (slot % kWordBits);
    if (found == 0) {
      slot = (slot / kWordBits + 1) * kWordBits;
      continue;
    }
    slot += static_cast<unsigned>(std::countr_zero(found));
    return slot < end ? slot : kNone;
  }
  return kNone;
}
template std::uint64_t Slots::next<false>(std::uint64_t, std::uint64_t) const noexcept;
template std::uint64_t Slots::next<true>(std::uint64_t, std::uint64_t) const noexcept;

void Slots::take(std::uint64_t slot, std::uint64_t page) noexcept {
  words_[slot / kWordBits] |= std::uint64_t{1} << (slot % kWordBits);
  owners_[slot] = page;
  ++used_;
  highest_ = std::max(highest_, slot);
}

bool Slots::give_back(std::uint64_t slot) noexcept {
  if (slot == kNone || !is_used(slot)) return false;
  words_[slot / kWordBits] &= ~(std::uint64_t{1} << (slot % kWordBits));
  --used_;
  return true;
}

}  // namespace nvmemu
