// SPDX-License-Identifier: Apache-2.0
#include "workloads/sum.h"

#include "workloads/random.h"

namespace nvmemu::workloads {

void fill(std::span<double> values, std::uint64_t seed) {
  Random random(seed);
  for (double& value : values) value = random.below(256);
}

[[gnu::noinline]] double sum_in_order(std::span<const double> values) noexcept {
  double total = 0;
  for (const double value : values) {
    total += value;
    asm("" : "+x"(total));  // in one register after each addition: not vectorised, not reordered
  }
  return total;
}

}  // namespace nvmemu::workloads
