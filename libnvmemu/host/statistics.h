// SPDX-License-Identifier: Apache-2.0
// Repetitions made into a figure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nvmemu {

// The middle value, or the mean of the two in the middle; 0 of nothing.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// What is above so many medians was disturbed.
inline constexpr double kDisturbedAbove = 1.25;

// The mean of what was not disturbed. 0 of nothing.
inline double undisturbed_mean(const std::vector<double>& values) {
  const double highest = kDisturbedAbove * median(values);
  double sum = 0;
  std::size_t count = 0;
  for (const double value : values) {
    if (value > highest) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

struct Figure {
  double value = 0;   // the median, where nothing else is said
  double spread = 0;  // (largest - smallest) / median
};

inline Figure summarize(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double middle = median(values);
  return {middle, middle > 0 ? (*most - *least) / middle : 0};
}

}  // namespace nvmemu
