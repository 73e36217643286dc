// SPDX-License-Identifier: Apache-2.0
// A streaming sum that is bound by its additions: memory that prefetchers hide.
#pragma once

#include <cstdint>
#include <span>

namespace nvmemu::workloads {

// Small whole numbers, the same for the same seed: any order of adding them gives the same, exact sum.
void fill(std::span<double> values, std::uint64_t seed);

// One addition an element, each waiting for the one before it (4 cycles or so), never several at a time.
double sum_in_order(std::span<const double> values) noexcept;

}  // namespace nvmemu::workloads
