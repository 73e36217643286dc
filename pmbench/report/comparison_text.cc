// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/quote.h"
#include "output/text_table.h"
#include "report/parameters.h"

namespace nvmemu::pmbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::size_t> figures_of(Section section) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (figures()[i].section == section) found.push_back(i);
  }
  return found;
}

std::string cell(const Figure& figure, double value, bool from_bands) {
  return fmt::format("{}{}", from_bands && figure.of_histogram ? "~" : "", format_figure(value, figure.unit));
}

// The mean of a group, and how sure it is.
std::string group_cell(const Figure& figure, const Estimate& estimate, bool from_bands) {
  if (estimate.runs == 0) return "-";
  const std::string mean = cell(figure, estimate.mean, from_bands);
  return estimate.half_width_95 ? mean + " +- " + format_half_width(*estimate.half_width_95, figure.unit)
                                : mean;
}

std::string runs_table(const Comparison& comparison) {
  const auto shown = figures_of(Section::kComparison);
  Rows rows{{"run"}};
  for (const std::size_t i : shown) rows.front().push_back(figures()[i].label);
  for (const NamedRun& run : comparison.runs) {
    auto& row = rows.emplace_back(1, run.file + (run.view.result.interrupted ? " (interrupted)" : ""));
    for (const std::size_t i : shown) {
      const auto value = figures()[i].of(run.view);
      row.push_back(value ? cell(figures()[i], *value, run.view.result.from_bands) : "-");
    }
  }
  return text_table(rows);
}

std::string averages_of(const Group& group) {
  Rows rows{
      {fmt::format("{} ({} runs)", group.label, group.runs.size()), "mean", "+- 95 %", "least", "most"}};
  for (const std::size_t i : figures_of(Section::kComparison)) {
    const Figure& figure = figures()[i];
    const Estimate& estimate = group.estimates[i];
    if (estimate.runs == 0) continue;
    rows.push_back({figure.label, cell(figure, estimate.mean, group.from_bands),
                    estimate.half_width_95 ? format_half_width(*estimate.half_width_95, figure.unit) : "-",
                    cell(figure, estimate.least, group.from_bands),
                    cell(figure, estimate.most, group.from_bands)});
  }
  return text_table(rows);
}

std::string groups_table(const Comparison& comparison, const char* head, Section section) {
  Rows rows{{head}};
  for (const std::size_t i : figures_of(section)) rows.front().push_back(figures()[i].label);
  for (const Group& group : comparison.groups) {
    auto& row = rows.emplace_back(1, group.label);
    for (const std::size_t i : figures_of(section)) {
      row.push_back(group_cell(figures()[i], group.estimates[i], group.from_bands));
    }
  }
  return text_table(rows);
}

// The same the other way round: for figures with long names, as in the paper's Table 2.
std::string groups_columns(const Comparison& comparison, const char* head, Section section) {
  Rows rows{{head}};
  for (const Group& group : comparison.groups) rows.front().push_back(group.label);
  for (const std::size_t i : figures_of(section)) {
    auto& row = rows.emplace_back(1, figures()[i].label);
    for (const Group& group : comparison.groups) {
      row.push_back(group_cell(figures()[i], group.estimates[i], group.from_bands));
    }
  }
  return text_table(rows);
}

// Fifty characters, shared among the ranges; each ends where the shares up to it do, so that they add up.
std::string time_bar(const Group& group) {
  constexpr std::string_view kMarks = ".-=+#";
  constexpr double kWidth = 50;
  std::string bar;
  double sum = 0;
  std::size_t mark = 0;
  for (const std::size_t i : figures_of(Section::kTimeSpent)) {
    sum += group.estimates[i].mean;
    const auto end = static_cast<std::size_t>(std::lround(std::min(sum, 1.0) * kWidth));
    if (end > bar.size()) bar.append(end - bar.size(), kMarks[mark]);
    ++mark;
  }
  return bar;
}

std::string time_spent(const Comparison& comparison) {
  std::string text = groups_table(comparison, "time in accesses of", Section::kTimeSpent) + "\n";
  std::size_t width = 0;
  for (const Group& group : comparison.groups) width = std::max(width, group.label.size());
  for (const Group& group : comparison.groups) {
    text += fmt::format("{:<{}}  [{:<50}]\n", printable(group.label), width, time_bar(group));
  }
  return text + fmt::format("{:<{}}   . < 0.5 us   - 0.5-3   = 3-50   + 50-500   # > 500 us\n", "", width);
}

std::string notes(const Comparison& comparison) {
  std::string text;
  std::vector<MajorFaults::Basis> bases;
  bool from_bands = false;
  for (const NamedRun& run : comparison.runs) {
    from_bands = from_bands || run.view.result.from_bands;
    const auto basis = run.view.major.basis;
    if (basis == MajorFaults::Basis::kNone || std::ranges::find(bases, basis) != bases.end()) continue;
    bases.push_back(basis);
    text += fmt::format("Major faults are {}.\n", explain(basis));
  }
  if (comparison.medium_ns) {
    text += fmt::format("The medium's latency is {}, {}.\n",
                        format_figure(*comparison.medium_ns, Unit::kNanoseconds),
                        printable(comparison.medium_from));
  } else if (!bases.empty()) {
    text += "OS overhead needs the medium's latency: --medium-latency or --measure-medium.\n";
  }
  if (from_bands)
    text += "~ is approximate: read off the XML's bands, which have neither sums nor what is below 256 ns.\n";
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text = runs_table(comparison);
  for (const Group& group : comparison.groups) {
    if (group.runs.size() > 1) text.append("\n").append(averages_of(group));
  }
  text.append("\n").append(groups_columns(comparison, "paging", Section::kPaging));
  text.append("\n").append(time_spent(comparison));
  const std::string below = notes(comparison);
  return below.empty() ? text : text + "\n" + below;
}

}  // namespace nvmemu::pmbench
