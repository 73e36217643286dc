// SPDX-License-Identifier: Apache-2.0
// The original's histogram: what its text and its XML have. Below 256 ns there is one band; each octave from
// 2^8 to 2^23 ns has 16 linear sub-bands; each from 2^23 to 2^30 one band; and there is one for the rest.
// Every bound is one of LatencyCounts' too, so bands are exact sums of its buckets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "measure/histogram.h"

namespace nvmemu::pmbench {

struct Bands {
  static constexpr unsigned kFirstBit = 8;    // the first octave in sub-bands
  static constexpr unsigned kCoarseBit = 23;  // the first without
  static constexpr unsigned kLastBit = 30;    // from here on, one band
  static constexpr std::size_t kSubBands = 16;

  std::uint64_t below = 0;  // [0, 256) ns
  std::array<std::array<std::uint64_t, kSubBands>, kCoarseBit - kFirstBit> fine{};
  std::array<std::uint64_t, kLastBit - kCoarseBit> coarse{};
  std::uint64_t above = 0;  // from 2^30 ns

  std::uint64_t total() const noexcept;
};

// The sum of one octave's sub-bands.
std::uint64_t sum(const std::array<std::uint64_t, Bands::kSubBands>& sub_bands) noexcept;

Bands bands_of(const LatencyCounts& counts) noexcept;

// The way back, which nobody can go exactly: each band's accesses are spread over its buckets by their width,
// as if all latencies in it were equally likely (linearly: so are the bands divided), `above` up to 2^32 ns.
// So the sum is that of the bands' middles, and least and greatest are the bounds of the outermost ones.
LatencyCounts counts_of(const Bands& bands) noexcept;

}  // namespace nvmemu::pmbench
