// SPDX-License-Identifier: Apache-2.0
#include "report/touch_report.h"

#include <fmt/format.h>

#include "base/units.h"
#include "output/csv.h"
#include "output/text_table.h"
#include "output/touch_figures.h"
#include "output/touch_text.h"

namespace nvmemu::pmbench {
namespace {

using TouchResults = std::vector<Named<TouchResult>>;

// Figures down, cases of all files across, as a run itself prints them.
std::string table(const TouchResults& all, const char* head, TouchSection section) {
  std::vector<std::vector<std::string>> rows{{head}};
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases)
      rows.front().push_back(label_of(all, one, name_of(of_pattern)));
  }
  for (const TouchFigure& figure : touch_figures()) {
    if (figure.section != section) continue;
    auto& row = rows.emplace_back(1, figure.label);
    for (const auto& one : all) {
      for (const TouchCase& of_pattern : one.result.cases)
        row.push_back(text_of(figure, estimate_of(figure, of_pattern)));
    }
  }
  return text_table(rows);
}

std::string text_of_all(const TouchResults& all) {
  if (all.size() == 1) return text_report(all.front().result);
  std::string text;
  for (const auto& one : all) {
    text += fmt::format("{}: Linux {}: {}; {} touched, where {} {}\n", one.file, one.result.machine.release,
                        describe(one.result.management), format_size(one.result.touched_bytes),
                        format_size(one.result.memory_bytes),
                        one.result.options.whole_machine ? "were available" : "are allowed");
  }
  text += "\n" + table(all, "touches that took no longer", TouchSection::kLatency);
  text += "\n" + table(all, "where the time went", TouchSection::kTime);
  return text + "\n" + table(all, "swap and reclaim", TouchSection::kReclaim);
}

std::string runs_csv(const TouchResults& all) {
  std::string text = "file,release,pattern,thp,run,touches";
  for (const TouchFigure& figure : touch_figures()) text += fmt::format(",{}", figure.key);
  text += "\n";
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases) {
      for (std::size_t i = 0; i < of_pattern.runs.size(); ++i) {
        const TouchRun& run = of_pattern.runs[i];
        text += fmt::format("{},{},{},{},{},{}", csv_field(one.file), csv_field(one.result.machine.release),
                            kTouchPatterns[static_cast<std::size_t>(of_pattern.pattern)].name,
                            of_pattern.huge_pages == HugePages::kOn ? "on" : "off", i + 1, run.touches);
        for (const TouchFigure& figure : touch_figures()) {
          const std::optional<double> value = figure.of(run);
          text += value ? fmt::format(",{:.7g}", *value) : ",";
        }
        text += "\n";
      }
    }
  }
  return text;
}

}  // namespace

LargeMemoryReport touch_report(const TouchResults& all) {
  return {text_of_all(all), runs_csv(all), touch_plots(all)};
}

}  // namespace nvmemu::pmbench
