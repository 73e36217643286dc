// SPDX-License-Identifier: Apache-2.0
#include "workloads/sum.h"

#include "workloads/random.h"

namespace nvmemu::workloads {

namespace {

template <typename T>
void fill_any(std::span<T> values, std::uint64_t seed) {
  Random random(seed);
  for (T& value : values) value = random.below(256);
}

}  // namespace

void fill(std::span<double> values, std::uint64_t seed) { fill_any(values, seed); }
void fill(std::span<std::uint64_t> values, std::uint64_t seed) { fill_any(values, seed); }

[[gnu::noinline]] double sum_in_order(std::span<const double> values) noexcept {
  double total = 0;
  for (const double value : values) {
    total += value;
    asm("" : "+x"(total));  // in one register after each addition: not vectorised, not reordered
  }
  return total;
}

[[gnu::noinline]] std::uint64_t sum_of_integers(std::span<const std::uint64_t> values) noexcept {
  std::uint64_t total = 0;
  for (const std::uint64_t value : values) total += value;
  return total;
}

}  // namespace nvmemu::workloads
