// SPDX-License-Identifier: Apache-2.0
#include "pattern/permutation.h"

#include "pattern/wide.h"

namespace nvmemu::pmbench {
namespace {

// Of numbers of up to 32 bits a vector holds twice as many, and processors multiply them in one go.
struct NarrowRound {
  std::uint32_t odd, add;
};
struct NarrowMix {
  std::array<NarrowRound, 3> rounds;
  std::uint32_t mask;
  int shift;

  std::uint32_t operator()(std::uint32_t i) const noexcept {
    for (const NarrowRound& round : rounds) {
      i = (i * round.odd + round.add) & mask;
      i ^= i >> shift;
    }
    return i;
  }
};

constexpr std::size_t kMost = Permutation::kMost;
constexpr std::uint32_t kFewWalk = kMost / 8;  // so few are sooner done one by one

// Mixes all, then again those that are above `last`, until few are.
PMBENCH_WIDE void mix_all(const NarrowMix& mix_as, std::uint32_t last, std::uint32_t* numbers) noexcept {
  const NarrowMix mix = mix_as;  // which stores to `numbers` cannot change
  for (std::size_t i = 0; i < kMost; ++i) numbers[i] = mix(numbers[i]);
  for (;;) {
    std::uint32_t walking = 0;
    for (std::size_t i = 0; i < kMost; ++i) walking += numbers[i] > last ? 1U : 0U;
    if (walking <= kFewWalk) return;
    for (std::size_t i = 0; i < kMost; ++i) {
      const std::uint32_t mixed = mix(numbers[i]);
      numbers[i] = numbers[i] > last ? mixed : numbers[i];
    }
  }
}

}  // namespace

void Permutation::apply(std::span<std::uint64_t> numbers) const noexcept {
  if (mask_ <= 0xffffffff) return apply_narrow(numbers);
  for (std::uint64_t& number : numbers) number = mix(number);
  walk_on(numbers);
}

void Permutation::apply_narrow(std::span<std::uint64_t> numbers) const noexcept {
  NarrowMix narrow{{}, static_cast<std::uint32_t>(mask_), shift_};
  for (std::size_t round = 0; round < rounds_.size(); ++round) {
    narrow.rounds[round] = {static_cast<std::uint32_t>(rounds_[round].odd),
                            static_cast<std::uint32_t>(rounds_[round].add)};
  }
  std::uint32_t all[kMost] = {};
  for (std::size_t i = 0; i < numbers.size(); ++i) all[i] = static_cast<std::uint32_t>(numbers[i]);
  mix_all(narrow, static_cast<std::uint32_t>(n_ - 1), all);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = all[i];
  walk_on(numbers);
}

// Those that must are collected without a branch: nobody could predict which.
void Permutation::walk_on(std::span<std::uint64_t> numbers) const noexcept {
  std::uint8_t walking[kMost];
  std::size_t count = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    walking[count] = static_cast<std::uint8_t>(i);
    count += numbers[i] >= n_ ? 1 : 0;
  }
  while (count > 0) {
    std::size_t left = 0;
    for (std::size_t at = 0; at < count; ++at) {
      const std::uint8_t i = walking[at];
      numbers[i] = mix(numbers[i]);
      walking[left] = i;
      left += numbers[i] >= n_ ? 1 : 0;
    }
    count = left;
  }
}

}  // namespace nvmemu::pmbench
