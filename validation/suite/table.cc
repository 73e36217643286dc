// SPDX-License-Identifier: Apache-2.0
#include "suite/table.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>

#include "output/text_table.h"

namespace nvmemu::suite {
namespace {

using Cells = std::vector<std::string>;

const Cells kHead{"workload",   "target ns", "base ns", "native s", "truth s",
                  "emulated s", "error %",   "+- 95 %", "native %", "runs"};

std::string percent(double value) { return fmt::format("{:.1f}", value); }
std::string percent(const std::optional<double>& value) { return value ? percent(*value) : "-"; }

std::string error_cell(const Row& row) {
  if (row.failure) return "FAILED";
  if (!row.is_measured()) return "skipped";
  if (row.experiment.judged == Judged::kBounds)
    return row.within_bounds(kBoundsTolerance) ? "in bounds" : "OUT OF BOUNDS";
  return fmt::format("{:+.1f}", row.error());
}

std::string truth_cell(const Row& row) {
  const std::string truth = fmt::format("{:.3f}", row.truth_seconds());
  if (row.experiment.judged != Judged::kBounds) return truth;
  return fmt::format("{:.3f} to {}", row.least_seconds(), truth);
}

std::string samples_cell(const Row& row) {
  const std::size_t disturbed = row.disturbed();
  return disturbed == 0 ? fmt::format("{}", row.samples.size())
                        : fmt::format("{} ({} disturbed)", row.samples.size(), disturbed);
}

Cells cells_of(const Row& row) {
  const std::string& name = row.experiment.name;
  const std::string target = row.target_ns > 0 ? fmt::format("{:.0f}", row.target_ns) : "-";
  if (!row.is_measured()) return {name, target, "-", "-", "-", "-", error_cell(row), "-", "-", "-"};
  return {name,
          target,
          fmt::format("{:.0f}", row.base_ns()),
          fmt::format("{:.3f}", row.native_seconds()),
          truth_cell(row),
          fmt::format("{:.3f}", row.emulated_seconds()),
          error_cell(row),
          row.experiment.judged == Judged::kBounds ? "-" : percent(half_width_95(row)),
          percent(row.native_spread()),
          samples_cell(row)};
}

Cells cells_of(const Summary& summary) {
  if (summary.failed > 0)
    return {summary.name,
            fmt::format("none: {} of {} rows failed", summary.failed, summary.failed + summary.rows),
            "-",
            "-",
            "-",
            "-"};
  if (summary.rows == 0) return {summary.name, "-", "-", "-", "-", "0"};
  return {summary.name,
          percent(summary.mean) + (summary.half_width_95 ? " +-" + percent(summary.half_width_95) : ""),
          percent(summary.median),
          percent(summary.least),
          fmt::format("{} ({})", percent(summary.most), summary.worst),
          fmt::format("{}", summary.rows)};
}

// Apart from the others, so that nobody takes them for rows that the means have.
std::string limits_table(const std::vector<Row>& rows) {
  std::vector<Cells> table{kHead};
  for (const Row& row : rows) {
    if (row.experiment.judged != Judged::kLimit) continue;
    Cells cells = cells_of(row);
    cells.front() = fmt::format("{}: {}", name_of(row.experiment.truth), cells.front());
    table.push_back(std::move(cells));
  }
  if (table.size() == 1) return "";
  return fmt::format("limits: what the emulation is known not to see; in no mean below\n{}\n",
                     pmbench::text_table(table));
}

std::string name_of(const Row& row) {
  return row.target_ns > 0 ? fmt::format("{}, {:.0f} ns", row.experiment.name, row.target_ns)
                           : row.experiment.name;
}

std::map<std::string, std::vector<std::string>> skipped_by_reason(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<std::string>> names;
  for (const Row& row : rows) {
    if (!row.skipped.empty()) names[row.skipped].push_back(name_of(row));
  }
  return names;
}

}  // namespace

std::string rows_table(const std::vector<Row>& rows) {
  std::string text;
  for (const TruthName& truth : kTruths) {
    std::vector<Cells> table{kHead};
    for (const Row& row : rows) {
      if (row.experiment.truth == truth.truth && row.experiment.judged != Judged::kLimit)
        table.push_back(cells_of(row));
    }
    if (table.size() == 1) continue;
    text += fmt::format("{}: {}\n{}\n", truth.name, truth.basis, pmbench::text_table(table));
  }
  return text + limits_table(rows);
}

std::string summary_table(const std::vector<Summary>& summaries) {
  std::vector<Cells> table{{"absolute error, %", "mean", "median", "least", "most", "rows"}};
  for (const Summary& summary : summaries) table.push_back(cells_of(summary));
  for (const PaperFigures& paper : kPapers)
    table.push_back({paper.what, percent(paper.mean), "-", percent(paper.least), percent(paper.most), "-"});
  std::string text = pmbench::text_table(table);
  for (const Summary& summary : summaries) {
    if (summary.bounded > 0 && summary.name != "all")
      text += fmt::format("{}: {} of {} rows of overlapping accesses within their bounds\n", summary.name,
                          summary.bounded - summary.out_of_bounds, summary.bounded);
  }
  return text;
}

std::string remarks(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    const std::string name = name_of(row);
    if (row.failure) text += fmt::format("FAILED: {}: {}\n", name, row.failure->message);
    if (row.failure && !row.failure->hint.empty()) text += fmt::format("  hint: {}\n", row.failure->hint);
    if (row.repeats_left_out > 0)
      text += fmt::format("disturbed, and not repeated for want of time: {}\n", name);
    if (row.experiment.judged == Judged::kLimit && row.is_measured())
      text += fmt::format("limit: {}: {}\n", name, row.experiment.limit);
  }
  for (const auto& [why, names] : skipped_by_reason(rows))
    text += fmt::format("skipped: {}: {}\n", fmt::join(names, "; "), why);
  return text;
}

}  // namespace nvmemu::suite
