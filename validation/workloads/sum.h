// SPDX-License-Identifier: Apache-2.0
// Streaming sums: memory that prefetchers hide.
#pragma once

#include <cstdint>
#include <span>

namespace nvmemu::workloads {

// Small whole numbers, the same for the same seed: any order of adding them gives the same, exact sum.
void fill(std::span<double> values, std::uint64_t seed);
void fill(std::span<std::uint64_t> values, std::uint64_t seed);

// One addition an element, each waiting for the one before it (4 cycles or so), never several at a time.
double sum_in_order(std::span<const double> values) noexcept;

// Modulo 2^64. An addition takes a cycle or less: bound by what a prefetcher fetches.
std::uint64_t sum_of_integers(std::span<const std::uint64_t> values) noexcept;

}  // namespace nvmemu::workloads
