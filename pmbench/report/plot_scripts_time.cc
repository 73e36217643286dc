// SPDX-License-Identifier: Apache-2.0
// The plots of time: where it went, and what happened in it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/gnuplot.h"
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

std::vector<Panel> panels(const std::vector<const NamedRun*>& runs) {
  return {{"accesses/s", kCountsFormat, accesses},
          {"p99 of latency", fmt::format("set logscale y 10\nset ytics{}{}", kLatencyTics, decades(runs)),
           p99_ns},
          {"major faults/s", fmt::format("unset logscale y\nset ytics autofreq\n{}", kCountsFormat),
           major_faults}};
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

// One colour for each group, which is named once.
std::string series_command(const Comparison& comparison, const std::vector<const NamedRun*>& runs,
                           std::size_t panel) {
  std::string text = "plot ";
  std::vector<bool> named(comparison.groups.size());
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::size_t group = runs[r]->group;
    const std::string title =
        named[group] ? "notitle" : fmt::format("title {}", gnuplot_string(comparison.groups[group].label));
    named[group] = true;
    text += fmt::format("{}$data{}_{} using 1:2 with lines lt {} {}", r == 0 ? "" : ", \\\n  ", panel, r,
                        group + 1, title);
  }
  return text + "\n";
}

}  // namespace

std::string time_spent_script(const Comparison& comparison) {
  std::string text = fmt::format("{}$data << EOD\n", kAxes);
  for (const Group& group : comparison.groups) {
    for (const std::size_t i : ranges()) text += fmt::format("{:.7g} ", 100 * group.estimates[i].mean);
    text += "\n";
  }
  text +=
      "EOD\n"
      "set title 'Time in accesses, by how long they took'\nset style data histograms\n"
      "set style histogram rowstacked\nset boxwidth 0.6\nset style fill solid border rgb 'white'\n"
      "set yrange [0:100]\nset format y '%g %%'\nset key outside right center invert reverse Left\n"
      "set xtics (";
  for (std::size_t g = 0; g < comparison.groups.size(); ++g) {
    text += fmt::format("{}{} {}", g == 0 ? "" : ", ", gnuplot_string(comparison.groups[g].label), g);
  }
  text +=
      fmt::format(")\nset xrange [-0.7:{:.1f}]\nplot ", static_cast<double>(comparison.groups.size()) - 0.3);
  std::size_t column = 1;
  for (const std::size_t i : ranges()) {
    text += fmt::format("{}$data using {} lc rgb '{}' title {}", column == 1 ? "" : ", \\\n  ", column,
                        kBarColours[column - 1], gnuplot_string(figures()[i].label));
    ++column;
  }
  return text + "\n";
}

bool has_series(const Comparison& comparison) { return !runs_with_series(comparison).empty(); }

std::string series_script(const Comparison& comparison) {
  const std::vector<const NamedRun*> runs = runs_with_series(comparison);
  const std::vector<Panel> all = panels(runs);
  std::string text = fmt::format("{}{}", kLines, kAxes);
  text += "set multiplot layout 3,1 title 'Over time' margins 0.11,0.97,0.09,0.88 spacing 0.05\n";
  text += "set xrange [0:*]\nset key at screen 0.5,0.95 center top horizontal\n";
  text += phase_marks(runs.front()->view.result.series);
  for (std::size_t p = 0; p < all.size(); ++p) {
    const Panel& panel = all[p];
    for (std::size_t r = 0; r < runs.size(); ++r) {
      text += fmt::format("$data{}_{} << EOD\n{}EOD\n", p, r, lines_of(runs[r]->view.result.series, panel));
    }
    text += fmt::format("set ylabel '{}' offset 1\n{}set format x '{}'\n", panel.title, panel.settings,
                        p + 1 == all.size() ? "%g s" : "");
    text += series_command(comparison, runs, p);
    text += "unset key\n";
  }
  return text + "unset multiplot\n";
}

}  // namespace nvmemu::pmbench
