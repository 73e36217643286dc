// SPDX-License-Identifier: Apache-2.0
// What a figure of a run report can be: what is read off a board is cut to it, and a report that has another
// is refused.
#pragma once

#include <cstdint>

namespace nvmemu {

struct NumberRange {
  double least, most;
};
inline constexpr NumberRange kNanoseconds{0, 1e24};  // of all threads of a full board, each 30 years
inline constexpr NumberRange kSignedNanoseconds{-1e24, 1e24};
inline constexpr NumberRange kLatencyNs{0, 1e10};
inline constexpr NumberRange kSeconds{0, 1e9};
inline constexpr NumberRange kBytes{0, 1e18};
inline constexpr NumberRange kBytesPerSecond{0, 1e18};
inline constexpr NumberRange kRelative{0, 1e6};
inline constexpr NumberRange kShare{0, 1};
inline constexpr NumberRange kCpuSeconds{0, 4e10};  // 64 bits of ns, twice
inline constexpr NumberRange kProgress{0, 2e19};    // 64 bits
inline constexpr NumberRange kEraseCycles{0, 1e12};
inline constexpr NumberRange kReadings{0, 2e19};  // 64 bits
inline constexpr NumberRange kSlowdown{0, 1e12};

// The most that a count can be.
inline constexpr std::uint64_t kMostCounted = 100'000'000'000'000'000;
inline constexpr std::uint64_t kMostThreads = 1'000'000'000;

// More on a board is no count of anybody's: something wrote over it.
inline constexpr std::uint64_t kMostOnBoard = 1'000'000'000'000'000;

}  // namespace nvmemu
