// SPDX-License-Identifier: Apache-2.0
// Where things lie: an order in memory without a pattern that a prefetcher could follow, which can be
// computed both ways. So a structure is built by writing its memory once from front to back: quickly,
// emulated too.
#pragma once

#include <bit>
#include <cstdint>

namespace nvmemu::workloads {

// splitmix64's finalizer (https://prng.di.unimi.it/splitmix64.c): the next key, from the last result.
constexpr std::uint64_t mixed(std::uint64_t z) noexcept {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// 0 to limit - 1 of 64 random bits, limit below 2^32. The bias is below limit / 2^32.
constexpr std::uint64_t below(std::uint64_t random, std::uint64_t limit) noexcept {
  return ((random >> 32) * limit) >> 32;
}

// A permutation of 0 to 2^bits - 1. Multiplying by an odd number and xoring with a shift by half the bits can
// both be undone (H. S. Warren, Hacker's Delight, 2nd ed., chapters 10 and 16).
class Scatter {
 public:
  Scatter(unsigned bits, std::uint64_t seed)
      : mask_((std::uint64_t{1} << bits) - 1),
        shift_((bits + 1) / 2),
        first_(mixed(seed) | 1),
        second_(mixed(seed + 1) | 1),
        first_inverse_(inverse(first_)),
        second_inverse_(inverse(second_)) {}

  std::uint64_t count() const { return mask_ + 1; }

  // Where thing number `index` lies.
  std::uint64_t place(std::uint64_t index) const noexcept {
    return folded((folded((index * first_) & mask_) * second_) & mask_);
  }
  // Which thing lies at `place`.
  std::uint64_t index(std::uint64_t place) const noexcept {
    return (folded((folded(place) * second_inverse_) & mask_) * first_inverse_) & mask_;
  }

 private:
  // Undoes itself, because twice the shift leaves no bit.
  std::uint64_t folded(std::uint64_t value) const noexcept { return value ^ (value >> shift_); }

  // Of an odd number modulo 2^64, by Newton's iteration: each step doubles the bits that are right.
  static constexpr std::uint64_t inverse(std::uint64_t odd) noexcept {
    std::uint64_t x = odd;  // 3 bits
    for (int step = 0; step < 5; ++step) x *= 2 - odd * x;
    return x;
  }

  std::uint64_t mask_;
  unsigned shift_;
  std::uint64_t first_, second_, first_inverse_, second_inverse_;
};

// `count`: a power of two.
inline Scatter scatter_of(std::uint64_t count, std::uint64_t seed) {
  return {static_cast<unsigned>(std::countr_zero(count)), seed};
}

}  // namespace nvmemu::workloads
