// SPDX-License-Identifier: Apache-2.0
#include "output/touch_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "output/swap_text.h"
#include "output/text_table.h"
#include "output/touch_figures.h"

namespace nvmemu::pmbench {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Cases beside one another: figures have long names.
std::string table_of(const TouchResult& result, const char* head, TouchSection section) {
  Rows rows{{head}};
  for (const TouchCase& one : result.cases) rows.front().push_back(name_of(one));
  for (const TouchFigure& figure : touch_figures()) {
    if (figure.section != section) continue;
    auto& row = rows.emplace_back(1, figure.label);
    for (const TouchCase& one : result.cases) row.push_back(text_of(figure, estimate_of(figure, one)));
  }
  return text_table(rows);
}

// Of the first run: whether the slowest touches are the first ones at the limit.
std::string slowest_of(const TouchCase& one) {
  if (one.runs.empty() || one.runs.front().slowest.empty()) return "";
  constexpr std::size_t kShown = 4;
  const TouchRun& run = one.runs.front();
  std::string text = fmt::format("{}: slowest of the first run:", name_of(one));
  for (std::size_t i = 0; i < std::min(kShown, run.slowest.size()); ++i) {
    const SlowTouch& touch = run.slowest[i];
    text += fmt::format("{} {} at {:.1f} % of the touches ({})", i == 0 ? "" : ",",
                        format_duration(static_cast<double>(touch.ns)),
                        100 * static_cast<double>(touch.index) / static_cast<double>(run.touches),
                        kTouchClassNames[static_cast<std::size_t>(touch.touch_class)]);
  }
  return text + "\n";
}

std::string swap_of(const TouchResult& result) {
  if (!result.swap_taken.kind.empty()) return swap_text(result.swap_taken);
  return result.options.swap_device.empty() ? "what the machine has" : result.options.swap_device;
}

bool swapped_nothing(const TouchCase& one) {
  return !one.runs.empty() && std::ranges::all_of(one.runs, [](const TouchRun& run) {
    return run.reclaim.counter("pswpout") == 0 && run.reclaim.counter("pswpin") == 0;
  });
}

}  // namespace

std::string notes_on(const TouchResult& result) {
  std::string text;
  for (const TouchCase& one : result.cases) {
    if (swapped_nothing(one)) {
      text += fmt::format(
          "{}: nothing was swapped{}.\n", name_of(one),
          one.pattern == TouchPattern::kUniform
              ? ": drawn with replacement, only 63 % of the pages are touched, which fit into memory"
              : "");
    }
    const auto is_short = [](const TouchRun& run) { return run.was_short_of_swap; };
    if (std::ranges::any_of(one.runs, is_short))
      text += fmt::format("{}: ended early, at 90 % of the swap that was free.\n", name_of(one));
  }
  if (!result.options.whole_machine) {
    text +=
        "kswapd has no part in a memory cgroup: what goes over its limit the task reclaims itself, which\n"
        "pgsteal and pgscan of /proc/vmstat do not count. pmbench kswapd measures the whole machine.\n";
  }
  return text;
}

std::string text_report(const TouchResult& result) {
  const TouchOptions& options = result.options;
  std::string text =
      fmt::format("Linux {}: {}\n{} touched, {:g} times the {} that {}; {} to {}\n", result.machine.release,
                  describe(result.management), format_size(result.touched_bytes), options.ratio,
                  format_size(result.memory_bytes), options.whole_machine ? "were available" : "are allowed",
                  "swap", swap_of(result));
  std::size_t least = options.runs;
  for (const TouchCase& one : result.cases) least = std::min(least, one.runs.size());
  if (result.interrupted)
    text += fmt::format("Interrupted: {} of {} runs were finished.\n", least, options.runs);
  if (result.cases.empty() || result.cases.front().runs.empty()) return text;
  text += "\n" + table_of(result, "touches that took no longer", TouchSection::kLatency);
  text += "\n" + table_of(result, "where the time went", TouchSection::kTime);
  text += "\n" + table_of(result, "swap and reclaim", TouchSection::kReclaim) + "\n";
  for (const TouchCase& one : result.cases) text += slowest_of(one);
  text += notes_on(result);
  for (const std::string& warning : result.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace nvmemu::pmbench
