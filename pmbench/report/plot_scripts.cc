// SPDX-License-Identifier: Apache-2.0
#include "report/plot_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/gnuplot.h"
#include "report/curves.h"
#include "report/plot_layout.h"
#include "report/plot_style.h"

namespace nvmemu::pmbench {
namespace {

std::string style() {
  return fmt::format(
      "{}{}set grid xtics ytics lc rgb '#d8d8d8' lt 1 lw 1\nset logscale x 10\nset xtics{}set xlabel "
      "'latency'\n",
      kLines, kAxes, kLatencyTics);
}

// All, or all but a few fast ones, which a linear axis does not show: decades would be empty.
std::string latency_range(const std::vector<Curve>& curves, double share = 0) {
  const auto [first, last] = extent(curves, share);
  return fmt::format("set xrange [{:.6g}:{:.6g}]\n", begin_of(first) / 1.2,
                     end_of(last, curves.front()) * 1.2);
}
constexpr double kNotSeen = 1e-3;

PlotScript with_curves(std::string_view title, const std::string& text, const std::vector<Curve>& curves) {
  Legend legend;
  for (std::size_t c = 0; c < curves.size(); ++c)
    legend.add(fmt::format("$data{} using 1:2", c), c + 1, curves[c].name);
  return {title_above(title, legend.height_px()) + Legend::kSettings + text + legend.plot(),
          legend.height_px()};
}

std::string logarithmic_axis(const std::vector<std::vector<Step>>& steps) {
  double least = 1e300;
  double most = 0;
  for (const auto& of_curve : steps) {
    for (const Step& step : of_curve) {
      if (step.density > 0) least = std::min(least, step.density);
      most = std::max(most, step.density);
    }
  }
  return logarithmic_count_axis(least, most);
}

std::string linear_axis(const std::vector<std::vector<Step>>& steps) {
  double most = 0;
  for (const auto& of_curve : steps) {
    for (const Step& step : of_curve) most = std::max(most, step.density);
  }
  return count_axis(most);
}

}  // namespace

PlotScript nothing_recorded(std::string_view title) {
  return {title_above(title, kPlotHeightPx) +
          "unset border\nunset tics\nset label 'nothing was recorded' at graph 0.5,0.5 center\n"
          "plot [0:1][0:1] NaN notitle\n"};
}

PlotScript histogram_script(const Comparison& comparison, bool logarithmic_y) {
  const std::vector<Curve> curves = curves_of(comparison);
  if (curves.empty()) return nothing_recorded("Access latency");
  const auto [first, last] = extent(curves);
  std::vector<std::vector<Step>> steps;
  for (const Curve& curve : curves) steps.push_back(steps_of(curve, first, last));
  std::string text = style() + latency_range(curves, logarithmic_y ? 0 : kNotSeen);
  text += "set ylabel 'accesses in 1/32 octave of latency'\n";
  text += logarithmic_y ? logarithmic_axis(steps) : linear_axis(steps);
  for (std::size_t c = 0; c < curves.size(); ++c) {
    text += fmt::format("$data{} << EOD\n", c);
    for (const Step& step : steps[c]) {
      // A logarithm has no 0: an empty step parts the line.
      text += logarithmic_y && step.density == 0 ? "\n"
                                                 : fmt::format("{0:.7g} {2:.7g}\n{1:.7g} {2:.7g}\n",
                                                               step.begin_ns, step.end_ns, step.density);
    }
    text += "EOD\n";
  }
  return with_curves("Access latency", text, curves);
}

PlotScript cumulated_script(const CumulatedPlot& plot) {
  const std::vector<Curve>& curves = plot.curves;
  if (curves.empty()) return nothing_recorded(plot.title);
  const auto [first, last] = extent(curves);
  std::string text = style() + latency_range(curves, kNotSeen);
  text +=
      fmt::format("set ylabel {}\nset format y '%g %%'\nset yrange [0:100]\n", gnuplot_string(plot.y_label));
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const LatencyCounts& counts = curves[c].counts;
    const auto weight = [&](std::size_t i) {
      const double middle_ns = plot.of_time ? (begin_of(i) + end_of(i, curves[c])) / 2 : 1;
      return static_cast<double>(counts.counts[i]) * middle_ns;
    };
    double all = 0;
    for (std::size_t i = first; i <= last; ++i) all += weight(i);
    double sum = 0;
    text += fmt::format("$data{} << EOD\n{:.7g} 0\n", c, begin_of(first));
    for (std::size_t i = first; i <= last; ++i) {
      sum += weight(i);
      text += fmt::format("{:.7g} {:.7g}\n", end_of(i, curves[c]), 100 * sum / all);
    }
    text += "EOD\n";
  }
  return with_curves(plot.title, text, curves);
}

PlotScript cdf_script(const Comparison& comparison) {
  return cumulated_script({.title = "Latency, cumulated",
                           .y_label = "accesses that took no longer",
                           .of_time = false,
                           .curves = curves_of(comparison)});
}

}  // namespace nvmemu::pmbench
