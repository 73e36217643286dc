// SPDX-License-Identifier: Apache-2.0
// Random numbers: the same on every machine for the same seed, and independent streams of them.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace nvmemu::pmbench {

// splitmix64, by Vigna (https://prng.di.unimi.it/splitmix64.c): makes seeds of anything.
constexpr std::uint64_t split_mix(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// xoshiro256++, by Blackman and Vigna (https://prng.di.unimi.it/xoshiro256plusplus.c).
class Rng {
 public:
  // Streams of one seed lie 2^128 numbers apart, so that they never meet.
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) noexcept {
    for (std::uint64_t& word : state_) word = split_mix(seed);
    for (; stream > 0; --stream) jump();
  }

  std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 to limit - 1. By multiplication: the bias is below limit / 2^64.
  std::uint64_t below(std::uint64_t limit) noexcept {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * limit) >> 64);
  }

  // In (0, 1), one of 2^52 values, never the ends: the bits of a double in [1, 2), and half a step.
  double unit() noexcept { return std::bit_cast<double>(next() >> 12 | 0x3ff0000000000000) - (1 - 0x1p-53); }

 private:
  __extension__ typedef unsigned __int128 Wide;

  void jump() noexcept {
    constexpr std::uint64_t kJump[] = {0x180ec6d33cfd0aba, 0xd5a61266f0c9392c, 0xa9582618e03fc9aa,
                                       0x39abdc4529b1661c};
    std::array<std::uint64_t, 4> jumped{};
    for (const std::uint64_t word : kJump) {
      for (int bit = 0; bit < 64; ++bit) {
        if ((word >> bit & 1) != 0) {
          for (std::size_t i = 0; i < jumped.size(); ++i) jumped[i] ^= state_[i];
        }
        next();
      }
    }
    state_ = jumped;
  }

  std::array<std::uint64_t, 4> state_{};
};

}  // namespace nvmemu::pmbench
