// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/gnuplot.h"
#include "output/touch_figures.h"
#include "report/plot_layout.h"
#include "report/plot_style.h"
#include "report/touch_report.h"

namespace nvmemu::pmbench {
namespace {

using Results = std::vector<Named<TouchResult>>;

std::vector<Curve> curves_of_all(const Results& all) {
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
PlotScript rss_script(const Results& all) {
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
PlotScript reclaim_script(const Results& all) {
  constexpr const char* kTitle = "Pages reclaimed, by whom";
  std::string rows;
  double most = 0;
  for (const auto& one : all) {
    for (const TouchCase& of_pattern : one.result.cases) {
      if (of_pattern.runs.empty()) continue;
      double by_kswapd = 0, directly = 0;
      for (const TouchRun& run : of_pattern.runs) {
        by_kswapd += run.reclaim.counter("pgsteal_kswapd") / static_cast<double>(of_pattern.runs.size());
        directly += run.reclaim.counter("pgsteal_direct") / static_cast<double>(of_pattern.runs.size());
      }
      most = std::max(most, by_kswapd + directly);
      rows += fmt::format("{} {:.7g} {:.7g}\n", gnuplot_string(label_of(all, one, name_of(of_pattern))),
                          by_kswapd, directly);
    }
  }
  if (most == 0) return nothing_recorded(kTitle);
  return {title_above(kTitle, kPlotHeightPx) + Legend::kSettings + kLines + kAxes + count_axis(most) +
          "set ylabel 'pages a run'\nset style data histograms\nset style histogram rowstacked\n"
          "set style fill solid\nset boxwidth 0.6\n$data << EOD\n" +
          rows + "EOD\nplot $data using 2:xtic(1) lt 1 title 'kswapd', '' using 3 lt 2 title 'directly'\n"};
}

bool is_of_whole_machine(const Named<TouchResult>& one) { return one.result.options.whole_machine; }

}  // namespace

std::vector<Plot> touch_plots(const Results& all) {
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
