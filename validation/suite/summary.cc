// SPDX-License-Identifier: Apache-2.0
#include "suite/summary.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "host/statistics.h"
#include "measure/statistics.h"

namespace nvmemu::suite {
namespace {

constexpr auto kFigures = std::to_array<PaperFigures>({
    {"NVMpro, pointer chase", 4.6, 0.16, 11, "ICPE 2015, section 3, against a remote node"},
    {"NVMpro, SPEC CPU2006", 1.8, std::nullopt, 5.36, "likewise, 20 programs"},
    {"Quartz", std::nullopt, 0.2, 9, "Middleware 2015, against a remote node"},
});

Summary summary_of(std::string name, const std::vector<const Row*>& rows) {
  Summary summary;
  summary.name = std::move(name);
  std::vector<double> errors;
  for (const Row* row : rows) {
    if (row->failure) ++summary.failed;
    if (!row->is_measured()) continue;
    if (row->experiment.judged == Judged::kBounds) {
      ++summary.bounded;
      if (!row->within_bounds(kBoundsTolerance)) ++summary.out_of_bounds;
    }
    if (row->experiment.judged != Judged::kError) continue;
    const double error = std::abs(row->error());
    if (errors.empty() || error > *std::ranges::max_element(errors)) summary.worst = row->experiment.name;
    errors.push_back(error);
  }
  const pmbench::Estimate estimate = pmbench::estimate(errors);
  summary.rows = estimate.runs;
  summary.mean = estimate.mean;
  summary.median = median(errors);
  summary.least = estimate.least;
  summary.most = estimate.most;
  summary.half_width_95 = estimate.half_width_95;
  return summary;
}

}  // namespace

const std::span<const PaperFigures> kPapers(kFigures);

std::vector<Summary> summarize(const std::vector<Row>& rows) {
  std::vector<Summary> summaries;
  std::vector<const Row*> all;
  for (const TruthName& truth : kTruths) {
    std::vector<const Row*> of_truth;
    for (const Row& row : rows) {
      if (row.experiment.truth == truth.truth && row.skipped.empty()) of_truth.push_back(&row);
    }
    if (of_truth.empty()) continue;
    summaries.push_back(summary_of(std::string(truth.name), of_truth));
    all.insert(all.end(), of_truth.begin(), of_truth.end());
  }
  if (summaries.size() > 1) summaries.push_back(summary_of("all", all));
  return summaries;
}

std::optional<double> half_width_95(const Row& row) {
  std::vector<double> errors;
  for (const Sample& sample : row.counted()) errors.push_back(sample.error());
  return pmbench::estimate(errors).half_width_95;
}

}  // namespace nvmemu::suite
