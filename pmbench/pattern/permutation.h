// SPDX-License-Identifier: Apache-2.0
// A random order of the pages that needs no table: a bijection of [0, n).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pattern/rng.h"

namespace nvmemu::pmbench {

// Mixes the numbers of as many bits as n needs, each step of which can be undone, and goes on mixing until
// the number is below n ("cycle walking": Black and Rogaway, Ciphers with arbitrary finite domains, 2002),
// which it is at once for a power of two and after two goes on average at worst.
class Permutation {
 public:
  // Of `n` numbers, 1 <= n <= 2^48. The same seed gives the same order.
  Permutation(std::uint64_t n, std::uint64_t seed) noexcept : n_(n) {
    const int bits = std::max(1, static_cast<int>(std::bit_width(n - 1)));
    mask_ = (std::uint64_t{1} << bits) - 1;
    shift_ = (bits + 1) / 2;
    for (Round& round : rounds_) round = {split_mix(seed) | 1, split_mix(seed)};
  }

  std::uint64_t operator()(std::uint64_t i) const noexcept {
    do i = mix(i);
    while (i >= n_);
    return i;
  }

  // The same of all, in place; at most kMost. Those that walk on are collected without a branch: for sizes
  // just above a power of two every second number does, and nobody could predict which.
  static constexpr std::size_t kMost = 64;
  void apply(std::span<std::uint64_t> numbers) const noexcept {
    std::uint8_t walking[kMost];
    std::size_t count = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = mix(numbers[i]);
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

 private:
  struct Round {
    std::uint64_t odd, add;
  };
  std::uint64_t mix(std::uint64_t i) const noexcept {
    for (const Round& round : rounds_) {
      i = (i * round.odd + round.add) & mask_;
      i ^= i >> shift_;
    }
    return i;
  }

  std::uint64_t n_;
  std::uint64_t mask_;
  int shift_;
  Round rounds_[3];
};

}  // namespace nvmemu::pmbench
