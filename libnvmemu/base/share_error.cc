// SPDX-License-Identifier: Apache-2.0
#include "base/share_error.h"

#include <algorithm>
#include <cmath>

namespace nvmemu {

double share_error_95(std::span<const double> shares, double share, double readings) noexcept {
  // Student's t by degrees of freedom, two-sided.
  constexpr double kT95[kMostMeasurements] = {0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36};
  const double either = std::max(share, 1 - share);
  const std::size_t count = std::min(shares.size(), kMostMeasurements);
  if (count < 2) return either;
  double squares = 0;
  for (const double one : shares.first(count)) squares += (one - share) * (one - share);
  const auto n = static_cast<double>(count);
  const double apart = kT95[count - 1] * std::sqrt(squares / (n * (n - 1)));
  const double p = (readings * share + 2) / (readings + 4);
  const double by_chance = 1.96 * std::sqrt(p * (1 - p) / (readings + 4));
  return std::min(std::max(apart, by_chance), either);
}

}  // namespace nvmemu
