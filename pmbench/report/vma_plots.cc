// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/gnuplot.h"
#include "report/plot_layout.h"
#include "report/plot_style.h"
#include "report/vma_report.h"

namespace nvmemu::pmbench {
namespace {

using VmaResults = std::vector<Named<VmaResult>>;

struct Point {
  double x, y;
};
struct Line {
  std::string name;
  std::vector<Point> points;
};

bool is_own_operation(const AreaCall& call) { return call.name == "mmap" || call.name == "mremap"; }

std::vector<Line> lines_of(const VmaResults& all, bool (*shown)(const AreaCall&),
                           Point (*point)(const AreaBand&)) {
  std::vector<Line> lines;
  for (const auto& one : all) {
    for (const VmaCase& of_pattern : one.result.cases) {
      for (const AreaCall& call : of_pattern.calls) {
        if (!shown(call)) continue;
        Line& line = lines.emplace_back();
        line.name = label_of(all, one, fmt::format("{} ({})", name_of(of_pattern.pattern), call.name));
        for (const AreaBand& band : call.bands) line.points.push_back(point(band));
      }
    }
  }
  return lines;
}

// A name for each power of 2 that lies within, or of 4 where there are many.
std::string octave_axis(const std::vector<Line>& lines) {
  double least = 1e18, most = 1;
  for (const Line& line : lines) {
    for (const Point& point : line.points) {
      least = std::min(least, point.x);
      most = std::max(most, point.x);
    }
  }
  std::string tics;
  const double factor = most / least > 256 ? 4 : 2;
  for (double at = 1; at <= most; at *= factor) {
    if (at >= least)
      tics += fmt::format("{}'{}' {:g}", tics.empty() ? "" : ", ",
                          at >= 1024 * 1024 ? fmt::format("{:g} Mi", at / 1024 / 1024)
                          : at >= 1024      ? fmt::format("{:g} Ki", at / 1024)
                                            : fmt::format("{:g}", at),
                          at);
  }
  return fmt::format("set logscale x 2\nset xtics ({})\nset xrange [{:g}:{:g}]\n", tics, least / 1.1,
                     most * 1.1);
}

PlotScript lines_script(std::string_view title, std::string_view x_label, std::string_view y_label,
                        const std::vector<Line>& lines) {
  if (lines.empty()) return nothing_recorded(title);
  double most = 0;
  for (const Line& line : lines) {
    for (const Point& point : line.points) most = std::max(most, point.y);
  }
  std::string text = fmt::format("{}{}{}{}set xlabel {}\nset ylabel {}\n", kLines, kAxes, octave_axis(lines),
                                 count_axis(most), gnuplot_string(x_label), gnuplot_string(y_label));
  Legend legend;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("$data{} << EOD\n", i);
    for (const Point& point : lines[i].points) text += fmt::format("{:.7g} {:.7g}\n", point.x, point.y);
    text += "EOD\n";
    legend.add(fmt::format("$data{} using 1:2", i), i + 1, lines[i].name);
  }
  return {title_above(title, legend.height_px()) + Legend::kSettings + text + legend.plot(),
          legend.height_px()};
}

struct Curves {
  const char* name;
  const char* title;
  Point (*point)(const AreaBand&);
};
constexpr Curves kCurves[] = {{"vma-median", "Median of an operation",
                               [](const AreaBand& band) {
                                 return Point{static_cast<double>(band.to), band.median_ns};
                               }},
                              {"vma-mean", "Mean of an operation",
                               [](const AreaBand& band) {
                                 return Point{static_cast<double>(band.to), band.mean_ns};
                               }},
                              {"vma-p99", "99th percentile of operations", [](const AreaBand& band) {
                                 return Point{static_cast<double>(band.to), band.p99_ns};
                               }}};

std::vector<Curve> latencies(const VmaResults& all) {
  std::vector<Curve> curves;
  for (const auto& one : all) {
    for (const VmaCase& of_pattern : one.result.cases) {
      for (const AreaCall& call : of_pattern.calls) {
        if (is_own_operation(call))
          curves.push_back(
              {label_of(all, one, std::string(name_of(of_pattern.pattern))), call.latencies, 1, 1});
      }
    }
  }
  return curves;
}

}  // namespace

std::vector<Plot> vma_plots(const VmaResults& all) {
  std::vector<Plot> plots;
  for (const Curves& curves : kCurves) {
    plots.push_back(plot_of(curves.name, lines_script(curves.title, "operations done", "ns",
                                                      lines_of(all, is_own_operation, curves.point))));
  }
  plots.push_back(plot_of("vma-cdf", cumulated_script({.title = "Operations, cumulated",
                                                       .y_label = "operations that took no longer",
                                                       .of_time = false,
                                                       .curves = latencies(all)})));
  const std::vector<Line> forks = lines_of(
      all, [](const AreaCall& call) { return call.name == "fork"; },
      [](const AreaBand& band) {
        return Point{static_cast<double>(std::max<std::uint64_t>(band.areas, 1)), band.median_ns / 1e6};
      });
  if (!forks.empty()) plots.push_back(plot_of("vma-fork", lines_script("fork", "areas", "ms", forks)));
  return plots;
}

}  // namespace nvmemu::pmbench
