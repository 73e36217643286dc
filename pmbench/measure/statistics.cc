// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace nvmemu::pmbench {

double student_t_975(std::size_t degrees) {
  // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
  constexpr std::array<double, 30> kTable{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                          2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                          2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                          2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees <= kTable.size()) return kTable[std::max<std::size_t>(degrees, 1) - 1];
  // Fisher's expansion in 1 / degrees (Abramowitz and Stegun, 26.7.5), right to 0.0005 from here on.
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(degrees);
  const double z3 = kZ * kZ * kZ;
  return kZ + (z3 + kZ) / (4 * n) + (5 * z3 * kZ * kZ + 16 * z3 + 3 * kZ) / (96 * n * n);
}

Estimate estimate(const std::vector<double>& values) {
  Estimate result;
  result.runs = values.size();
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  const auto [least, most] = std::ranges::minmax_element(values);
  result.least = *least;
  result.most = *most;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2 || result.least == result.most) return result;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const double standard_error = std::sqrt(squares / (n - 1) / n);
  result.half_width_95 = student_t_975(values.size() - 1) * standard_error;
  return result;
}

}  // namespace nvmemu::pmbench
