// SPDX-License-Identifier: Apache-2.0
// What walks have passed, of what writes are emulated by: counts, to be taken as ratios, since ticks fall
// where time is spent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nvmemu {

enum class Passed : std::uint8_t {
  kInstruction,  // of any kind
  kFromMemory,   // a line that was read from memory
  kStore,        // ordinary
  kNonTemporal,  // a store past the caches
  kFlush,        // of a line
  kFence,
  kLocked,  // an atomic read-modify-write
  kCount,
};
inline constexpr std::size_t kPassedKinds = static_cast<std::size_t>(Passed::kCount);
const char* name_of(Passed passed) noexcept;  // in the plural

struct WalkPassed {
  std::array<std::uint64_t, kPassedKinds> counts{};

  std::uint64_t& operator[](Passed kind) noexcept { return counts[static_cast<std::size_t>(kind)]; }
  std::uint64_t operator[](Passed kind) const noexcept { return counts[static_cast<std::size_t>(kind)]; }
  WalkPassed& operator+=(const WalkPassed& other) noexcept {
    for (std::size_t i = 0; i < kPassedKinds; ++i) counts[i] += other.counts[i];
    return *this;
  }
};

}  // namespace nvmemu
