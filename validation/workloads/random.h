// SPDX-License-Identifier: Apache-2.0
// The same numbers on every machine for the same seed.
#pragma once

#include <cstdint>

namespace nvmemu::workloads {

// splitmix64: https://prng.di.unimi.it/splitmix64.c
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // 0 to limit - 1; limit > 0. By multiplication: the bias is below limit / 2^32.
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>(((next() >> 32) * limit) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace nvmemu::workloads
