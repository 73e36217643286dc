// SPDX-License-Identifier: Apache-2.0
// What is in the pages before they are measured. Swap that compresses (zram, zswap), and swap that spots
// pages of one repeated word, make of easy contents a measurement of something else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace nvmemu::pmbench {

inline constexpr std::size_t kFilledPageBytes = 4096;

// One page: its first `compressible_percent` are zeros, the rest has full entropy: random bits of a stream
// that seed and page number choose.
void fill_page(std::span<std::byte, kFilledPageBytes> page, std::uint64_t seed, std::uint64_t number,
               unsigned compressible_percent) noexcept;

// All pages of `memory` (a multiple of 4 KiB), by `threads` threads, until `stop`. False where it was
// stopped.
bool fill(std::span<std::byte> memory, std::uint64_t seed, unsigned compressible_percent, unsigned threads,
          const std::atomic<bool>& stop);

// Makes the pages exist with next to no contents: the first word of each is its number, counted from 1.
bool populate(std::span<std::byte> memory, unsigned threads, const std::atomic<bool>& stop);

}  // namespace nvmemu::pmbench
