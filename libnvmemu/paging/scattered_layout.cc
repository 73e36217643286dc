// SPDX-License-Identifier: Apache-2.0
#include "paging/scattered_layout.h"

#include <algorithm>
#include <bit>

namespace nvmemu {
namespace {

constexpr std::uint64_t kStretch = std::uint64_t{1} << 16;

// Another number of so many bits for each: every step can be undone.
std::uint64_t permuted(std::uint64_t number, int bits, std::uint64_t seed) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const int shift = std::max(1, (bits + 1) / 2);
  number = (number * 0x9e3779b97f4a7c15 + seed) & mask;
  number ^= number >> shift;
  number = (number * 0xbf58476d1ce4e5b9) & mask;
  return number ^ number >> shift;
}

}  // namespace

bool ScatteredLayout::open(std::uint64_t most) noexcept {
  most_ = most;
  return true;
}

// The last stretch may be shorter than numbers of whole bits are many: what falls beside it is permuted
// again, and comes to lie in it at last, as each number is in a cycle.
std::uint64_t ScatteredLayout::slot_at(std::uint64_t turn) const noexcept {
  const std::uint64_t first = turn / kStretch * kStretch;
  const std::uint64_t length = std::min(kStretch, most_ - first);
  const int bits = static_cast<int>(std::bit_width(length - 1));
  std::uint64_t number = turn - first;
  do number = permuted(number, bits, seed_ + first);
  while (number >= length);
  return 1 + first + number;
}

std::uint64_t ScatteredLayout::next_free_turn(std::uint64_t from, std::uint64_t end,
                                              const Slots& slots) const noexcept {
  for (std::uint64_t turn = from; turn < end; ++turn) {
    if (!slots.is_used(slot_at(turn))) return turn;
  }
  return kNoTurn;
}

// What was never used costs room of the store's: it is taken only where little is free before.
std::uint64_t ScatteredLayout::choose(std::uint64_t /*page*/, const Slots& slots) noexcept {
  if (slots.used() == most_) return kNoSlot;
  const bool grows = slots.used() * 2 >= begun_;
  std::uint64_t turn = next_free_turn(next_, grows ? most_ : begun_, slots);
  if (turn == kNoTurn) turn = next_free_turn(0, next_, slots);
  if (turn == kNoTurn) turn = next_free_turn(next_, most_, slots);
  if (turn == kNoTurn) return kNoSlot;
  next_ = turn;
  return slot_at(turn);
}

void ScatteredLayout::taken(std::uint64_t slot) noexcept {
  if (slot_at(next_) == slot) ++next_;
  begun_ = std::max(begun_, next_);
}

}  // namespace nvmemu
