// SPDX-License-Identifier: Apache-2.0
// The plots of time: where it went, and what happened in it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/bars.h"
#include "report/plot_layout.h"
#include "report/plot_scripts.h"
#include "report/plot_style.h"

namespace nvmemu::pmbench {
namespace {

// From what is in caches and memory to what hurts.
constexpr std::array kBarColours{"#bcd7ea", "#56b4e9", "#0072b2", "#e69f00", "#d55e00"};

std::vector<std::size_t> ranges() {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (figures()[i].section == Section::kTimeSpent) found.push_back(i);
  }
  return found;
}

std::vector<const NamedRun*> runs_with_series(const Comparison& comparison) {
  std::vector<const NamedRun*> runs;
  for (const NamedRun& run : comparison.runs) {
    if (run.view.result.series.size() > 1) runs.push_back(&run);
  }
  return runs;
}

double per_second(std::uint64_t count, const SeriesPoint& point) {
  return point.seconds > 0 ? static_cast<double>(count) / point.seconds : 0;
}

double accesses(const SeriesPoint& point) { return per_second(point.accesses, point); }
double major_faults(const SeriesPoint& point) { return per_second(point.major_faults, point); }
double p99_ns(const SeriesPoint& point) { return point.p99_ns; }

// Whole decades around all of them, as few latencies have a name on the axis.
std::string decades(const std::vector<const NamedRun*>& runs) {
  double least = 1e12;
  double most = 1;
  for (const NamedRun* run : runs) {
    for (const SeriesPoint& point : run->view.result.series) {
      if (point.p99_ns <= 0) continue;
      least = std::min(least, point.p99_ns);
      most = std::max(most, point.p99_ns);
    }
  }
  const double low = std::floor(std::log10(std::min(least, most)));
  const double high = std::max(std::ceil(std::log10(most)), low + 1);
  // A little more than that, or the names at the ends may be lost to rounding.
  return fmt::format("set yrange [{:g}:{:g}]\n", 0.99 * std::pow(10, low), 1.01 * std::pow(10, high));
}

struct Panel {
  const char* title;
  std::string settings;
  double (*value)(const SeriesPoint&);
};

double most_of(const std::vector<const NamedRun*>& runs, double (*value)(const SeriesPoint&)) {
  double most = 0;
  for (const NamedRun* run : runs) {
    for (const SeriesPoint& point : run->view.result.series) most = std::max(most, value(point));
  }
  return most;
}

std::string counts_of(const std::vector<const NamedRun*>& runs, double (*value)(const SeriesPoint&)) {
  return "unset logscale y\n" + count_axis(most_of(runs, value));
}

// Without latencies where none were recorded.
std::vector<Panel> panels(const std::vector<const NamedRun*>& runs) {
  std::vector<Panel> all{{"accesses/s", counts_of(runs, accesses), accesses}};
  if (most_of(runs, p99_ns) > 0) {
    all.push_back({"p99 of latency",
                   fmt::format("set logscale y 10\nset ytics{}{}", kLatencyTics, decades(runs)), p99_ns});
  }
  all.push_back({"major faults/s", counts_of(runs, major_faults), major_faults});
  return all;
}

double end_s(const std::vector<const NamedRun*>& runs) {
  double end = 0;
  for (const NamedRun* run : runs) end = std::max(end, run->view.result.series.back().at_s);
  return end;
}

std::string lines_of(const std::vector<SeriesPoint>& series, const Panel& panel) {
  std::string text;
  for (const SeriesPoint& point : series)
    text += fmt::format("{:.3f} {:.7g}\n", point.at_s, panel.value(point));
  return text;
}

// Where each phase but the first begins, of the first run that has a series: a dashed line in every panel.
std::string phase_marks(const std::vector<SeriesPoint>& series) {
  std::string text;
  for (std::size_t i = 1; i < series.size(); ++i) {
    if (series[i].phase == series[i - 1].phase) continue;
    text += fmt::format(
        "set arrow from first {0:.3f}, graph 0 to first {0:.3f}, graph 1 nohead dt 2 lc rgb '#808080'\n",
        series[i - 1].at_s);
  }
  return text;
}

// One colour for each group.
std::string series_command(const std::vector<const NamedRun*>& runs, std::size_t panel) {
  std::string text = "plot ";
  for (std::size_t r = 0; r < runs.size(); ++r) {
    text += fmt::format("{}$data{}_{} using 1:2 with lines lt {} notitle", r == 0 ? "" : ", \\\n  ", panel, r,
                        runs[r]->group + 1);
  }
  return text + "\n";
}

Legend series_legend(const Comparison& comparison, const std::vector<const NamedRun*>& runs) {
  Legend legend;
  std::vector<bool> named(comparison.groups.size());
  for (const NamedRun* run : runs) {
    if (named[run->group]) continue;
    named[run->group] = true;
    legend.add("NaN", run->group + 1, comparison.groups[run->group].label);
  }
  return legend;
}

bool has_latencies(const Group& group) { return group.reads.count + group.writes.count > 0; }

}  // namespace

// Bars lie, one below another, each below its name, so that names may be long.
PlotScript time_spent_script(const Comparison& comparison) {
  constexpr const char* kTitle = "Time in accesses, by how long they took";
  if (std::none_of(comparison.groups.begin(), comparison.groups.end(), has_latencies))
    return nothing_recorded(kTitle);
  Bars bars{.title = kTitle, .x_axis = "set xrange [0:100]\nset format x '%g %%'\n", .parts = {}, .bars = {}};
  for (const std::size_t i : ranges())
    bars.parts.push_back({figures()[i].label, kBarColours[bars.parts.size()]});
  for (const Group& group : comparison.groups) {
    Bars::Bar& bar = bars.bars.emplace_back(Bars::Bar{group.label, {}});
    for (const std::size_t i : ranges()) bar.values.push_back(100 * group.estimates[i].mean);
  }
  return bars_script(bars);
}

bool has_series(const Comparison& comparison) { return !runs_with_series(comparison).empty(); }

PlotScript series_script(const Comparison& comparison) {
  constexpr double kTopPx = 60, kBottomPx = 50;  // of the panels, with a legend of one line
  const std::vector<const NamedRun*> runs = runs_with_series(comparison);
  const std::vector<Panel> all = panels(runs);
  const Legend legend = series_legend(comparison, runs);
  const unsigned height_px = legend.height_px();
  std::string text = fmt::format("{}{}set multiplot layout {},1 margins ", kLines, kAxes, all.size());
  text += fmt::format("0.12,0.97,{:.4f},{:.4f} spacing 0.05\n", kBottomPx / height_px,
                      1 - (kTopPx + height_px - kPlotHeightPx) / height_px);
  text += fmt::format("set xrange [0:{:.3f}]\n", end_s(runs));
  text += phase_marks(runs.front()->view.result.series);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Panel& panel = all[p];
    for (std::size_t r = 0; r < runs.size(); ++r) {
      text += fmt::format("$data{}_{} << EOD\n{}EOD\n", p, r, lines_of(runs[r]->view.result.series, panel));
    }
    text += fmt::format("set label 1 '{}' at screen 0.015, graph 0.5 center rotate\n{}set format x '{}'\n",
                        panel.title, panel.settings, p + 1 == all.size() ? "%g s" : "");
    text += series_command(runs, p);
  }
  // A legend may have no more lines than what it belongs to is high: it belongs to all.
  text +=
      "unset label\nunset arrow\nunset border\nunset tics\nunset logscale\nset origin 0,0\nset lmargin at "
      "screen "
      "0.12\nset rmargin at screen 0.97\nset tmargin at screen 0.97\nset bmargin at screen 0\n" +
      title_above("Over time", height_px) +
      fmt::format(
          "set key at screen 0.12,{:.4f} left top vertical maxcols 1 Left reverse\nset yrange [0:1]\n",
          1 - 32.0 / height_px) +
      legend.plot();
  return {text + "unset multiplot\n", height_px};
}

}  // namespace nvmemu::pmbench
