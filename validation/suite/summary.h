// SPDX-License-Identifier: Apache-2.0
// What the rows of a truth say together, as the papers print it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/row.h"

namespace nvmemu::suite {

// Absolute errors, in per cent; of rows that are judged by their error. Each row counts once, by its median.
struct Summary {
  std::string name;  // the truth's, or "all"
  std::size_t rows = 0;
  double mean = 0, median = 0, least = 0, most = 0;
  // The mean over such rows lies within mean +- this in 95 % of cases (Student's t); of one row, unknown.
  std::optional<double> half_width_95;
  std::string worst;  // the row of `most`
  // Rows without a figure: then there is no mean, because one without them would be of the easy ones.
  std::size_t failed = 0;
  std::size_t out_of_bounds = 0, bounded = 0;  // of those judged by bounds
};

// One for each truth that has rows, and where there are several one of all.
std::vector<Summary> summarize(const std::vector<Row>& rows);

// Of the errors of a row's samples: half the width of the 95 % confidence interval of their mean.
std::optional<double> half_width_95(const Row& row);

struct PaperFigures {
  const char* what;
  std::optional<double> mean, least, most;  // per cent
  const char* source;
};
extern const std::span<const PaperFigures> kPapers;

// How far outside its bounds a row of overlapping accesses may be: what measuring and noise cost.
constexpr double kBoundsTolerance = 0.05;

}  // namespace nvmemu::suite
