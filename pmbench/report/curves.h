// SPDX-License-Identifier: Apache-2.0
// The histograms of a comparison as curves.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "measure/histogram.h"
#include "report/comparison.h"

namespace nvmemu::pmbench {

// What one line shows: reads or writes where there is one group, else a group.
struct Curve {
  std::string name;
  LatencyCounts counts;  // of all runs together
  double runs = 1;
  double clock_step_ns = 1;  // of what timed it, as far as it shows
};

std::vector<Curve> curves_of(const Comparison& comparison);

// The bounds of bucket `i` on a logarithmic axis, which has no 0.
double begin_of(std::size_t i);
double end_of(std::size_t i, const Curve& curve);

// The first and the last bucket that is not empty in some curve; the first below and in which more than
// `share` of the accesses of some curve are.
std::pair<std::size_t, std::size_t> extent(const std::vector<Curve>& curves, double share = 0);

struct Step {
  double begin_ns, end_ns;
  double density;  // accesses of a run in 1/32 of an octave
};

// Single buckets where enough fell into them, and they are wider than the clock's steps. Else so many
// together that the line does not jump up and down between one and none.
std::vector<Step> steps_of(const Curve& curve, std::size_t first, std::size_t last);

}  // namespace nvmemu::pmbench
