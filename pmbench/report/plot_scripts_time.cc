// SPDX-License-Identifier: Apache-2.0
// The plots of time: where it went, and what happened in it.
#include <fmt/format.h>

#include <functional>

#include "report/gnuplot.h"
#include "report/plot_scripts.h"

namespace nvmemu::pmbench {
namespace {

// From what is in caches and memory to what hurts.
constexpr std::array kBarColours{"#bcd7ea", "#56b4e9", "#0072b2", "#e69f00", "#d55e00"};

constexpr const char* kAxes =
    "set border 3 lc rgb '#404040'\nset tics nomirror out\nset grid ytics lc rgb '#d8d8d8' lt 1 lw 1\n";

std::vector<std::size_t> ranges() {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (figures()[i].section == Section::kTimeSpent) found.push_back(i);
  }
  return found;
}

struct Panel {
  const char* title;
  const char* settings;
  std::function<double(const SeriesPoint&)> value;
};

double per_second(double count, const SeriesPoint& point) {
  return point.seconds > 0 ? count / point.seconds : 0;
}

const std::array<Panel, 3>& panels() {
  static const std::array<Panel, 3> kPanels{{
      {"accesses/s", "set format y '%.3s%c'\nset yrange [0:*]\n",
       [](const SeriesPoint& point) { return per_second(static_cast<double>(point.accesses), point); }},
      {"p99 of latency",
       "set logscale y 10\nset yrange [*:*]\nset ytics ('10 ns' 10, '100 ns' 100, '1 us' 1e3, '10 us' 1e4, "
       "'100 us' 1e5, '1 ms' 1e6, '10 ms' 1e7, '100 ms' 1e8, '1 s' 1e9)\n",
       [](const SeriesPoint& point) { return point.p99_ns; }},
      {"major faults/s", "unset logscale y\nset ytics autofreq\nset format y '%.3s%c'\nset yrange [0:*]\n",
       [](const SeriesPoint& point) { return per_second(static_cast<double>(point.major_faults), point); }},
  }};
  return kPanels;
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

}  // namespace

std::string time_spent_script(const Comparison& comparison) {
  std::string text = std::string(kAxes) + "$data << EOD\n";
  for (const Group& group : comparison.groups) {
    for (const std::size_t i : ranges()) text += fmt::format("{:.7g} ", 100 * group.estimates[i].mean);
    text += "\n";
  }
  text += "EOD\n";
  text +=
      "set title 'Time in accesses, by how long they took'\nset style data histograms\n"
      "set style histogram rowstacked\nset boxwidth 0.6\nset style fill solid border rgb 'white'\n"
      "set yrange [0:100]\nset format y '%g %%'\nset key outside right center invert reverse Left\n";
  text += "set xtics (";
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

bool has_series(const Comparison& comparison) {
  for (const NamedRun& run : comparison.runs) {
    if (run.view.result.series.size() > 1) return true;
  }
  return false;
}

std::string series_script(const Comparison& comparison) {
  std::vector<const NamedRun*> runs;
  for (const NamedRun& run : comparison.runs) {
    if (run.view.result.series.size() > 1) runs.push_back(&run);
  }
  std::string text = std::string(kAxes) +
                     "set multiplot layout 3,1 title 'Over time' margins 0.11,0.97,0.09,0.92 spacing 0.05\n";
  text += "set xrange [0:*]\n" + phase_marks(runs.front()->view.result.series);
  for (std::size_t p = 0; p < panels().size(); ++p) {
    const Panel& panel = panels()[p];
    const bool last = p + 1 == panels().size();
    for (std::size_t r = 0; r < runs.size(); ++r) {
      text += fmt::format("$data{}_{} << EOD\n{}EOD\n", p, r, lines_of(runs[r]->view.result.series, panel));
    }
    text += fmt::format("set ylabel '{}' offset 1\n{}{}{}", panel.title, panel.settings,
                        last ? "set format x '%g s'\n" : "set format x ''\n",
                        p == 0 ? "set key top right\n" : "unset key\n");
    text += "plot ";
    for (std::size_t r = 0; r < runs.size(); ++r) {
      text += fmt::format("{}$data{}_{} using 1:2 with lines lt {} lw 2 title {}", r == 0 ? "" : ", \\\n  ",
                          p, r, r + 1, gnuplot_string(runs[r]->file));
    }
    text += "\n";
  }
  return text + "unset multiplot\n";
}

}  // namespace nvmemu::pmbench
