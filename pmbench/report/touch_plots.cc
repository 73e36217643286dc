// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "output/touch_figures.h"
#include "report/bars.h"
#include "report/plot_layout.h"
#include "report/plot_style.h"
#include "report/touch_report.h"

namespace nvmemu::pmbench {
namespace {

using TouchResults = std::vector<Named<TouchResult>>;

std::vector<Curve> curves_of_all(const TouchResults& all) {
  std::vector<Curve> curves;
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases) {
      Curve curve{
          label_of(all, one, name_of(of_pattern)), {}, static_cast<double>(of_pattern.runs.size()), 1};
      for (const TouchRun& run : of_pattern.runs) curve.counts.merge(run.undisturbed());
      if (curve.counts.count > 0) curves.push_back(std::move(curve));
    }
  }
  return curves;
}

// Of the first run of each.
PlotScript rss_script(const TouchResults& all) {
  constexpr const char* kTitle = "Resident set while touching";
  constexpr double kMebibyte = 1 << 20;
  std::string text;
  Legend legend;
  std::size_t line = 0;
  double most_mib = 0;
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases) {
      if (of_pattern.runs.empty()) continue;
      text += fmt::format("$data{} << EOD\n", line);
      for (const RssPoint& point : of_pattern.runs.front().rss) {
        const double rss_mib = static_cast<double>(point.rss_bytes) / kMebibyte;
        most_mib = std::max(most_mib, rss_mib);
        text +=
            fmt::format("{:.7g} {:.7g}\n", static_cast<double>(point.touches) * 4096 / kMebibyte, rss_mib);
      }
      text += "EOD\n";
      legend.add(fmt::format("$data{} using 1:2", line), line + 1, label_of(all, one, name_of(of_pattern)));
      ++line;
    }
  }
  if (line == 0) return nothing_recorded(kTitle);
  return {title_above(kTitle, legend.height_px()) + Legend::kSettings + kLines + kAxes +
              count_axis(most_mib) + "set xlabel 'touches x 4 KiB, MiB'\nset ylabel 'MiB'\n" + text +
              legend.plot(),
          legend.height_px()};
}

// Pages a run, by who reclaimed them.
PlotScript reclaim_script(const TouchResults& all) {
  constexpr const char* kTitle = "Pages reclaimed in a run, by whom";
  Bars bars{.title = kTitle,
            .x_axis = "set xrange [0:*]\nset format x '%.0f'\n",
            .parts = {{"by kswapd", "#56b4e9"}, {"directly", "#d55e00"}},
            .bars = {}};
  double most = 0;
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases) {
      if (of_pattern.runs.empty()) continue;
      const auto runs = static_cast<double>(of_pattern.runs.size());
      std::vector<double> pages(2);
      for (const TouchRun& run : of_pattern.runs) {
        pages[0] += run.reclaim.counter("pgsteal_kswapd") / runs;
        pages[1] += run.reclaim.counter("pgsteal_direct") / runs;
      }
      most = std::max(most, pages[0] + pages[1]);
      bars.bars.push_back({label_of(all, one, name_of(of_pattern)), std::move(pages)});
    }
  }
  return most > 0 ? bars_script(bars) : nothing_recorded(kTitle);
}

bool is_of_whole_machine(const Named<TouchResult>& one) { return one.result.options.whole_machine; }

}  // namespace

std::vector<Plot> touch_plots(const TouchResults& all) {
  const std::vector<Curve> curves = curves_of_all(all);
  std::vector<Plot> plots{
      plot_of("touch-cdf", cumulated_script({.title = "Touches, cumulated",
                                             .y_label = "touches that took no longer",
                                             .of_time = false,
                                             .curves = curves})),
      plot_of("touch-time-cdf", cumulated_script({.title = "Time of touches, cumulated",
                                                  .y_label = "time in touches that took no longer",
                                                  .of_time = true,
                                                  .curves = curves})),
      plot_of("touch-rss", rss_script(all))};
  if (std::ranges::any_of(all, is_of_whole_machine)) plots.push_back(plot_of("reclaim", reclaim_script(all)));
  return plots;
}

}  // namespace nvmemu::pmbench
