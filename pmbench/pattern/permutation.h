// SPDX-License-Identifier: Apache-2.0
// A random order of the pages that needs no table: a bijection of [0, n).
#pragma once

#include <algorithm>
#include <array>
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

  // The same of all, in place; at most kMost.
  static constexpr std::size_t kMost = 64;
  void apply(std::span<std::uint64_t> numbers) const noexcept;

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
  void apply_narrow(std::span<std::uint64_t> numbers) const noexcept;
  void walk_on(std::span<std::uint64_t> numbers) const noexcept;

  std::uint64_t n_;
  std::uint64_t mask_;
  int shift_;
  std::array<Round, 3> rounds_;
};

}  // namespace nvmemu::pmbench
