// SPDX-License-Identifier: Apache-2.0
// What several runs say together about one figure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace nvmemu::pmbench {

struct Estimate {
  std::size_t runs = 0;
  double mean = 0;
  double least = 0, most = 0;
  // The true mean lies within mean +- this in 95 % of such samples, for normally distributed figures
  // (Student's t). One run alone cannot say, nor can runs that are all alike: how they scatter was not seen.
  std::optional<double> half_width_95;
};

// Of no values: no runs.
Estimate estimate(const std::vector<double>& values);

// The 97.5 % quantile of Student's t distribution, for n - 1 = `degrees` of freedom (>= 1).
double student_t_975(std::size_t degrees);

}  // namespace nvmemu::pmbench
