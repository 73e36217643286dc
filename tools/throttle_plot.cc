// SPDX-License-Identifier: Apache-2.0
#include "throttle_plot.h"

#include <fmt/format.h>

#include "base/gnuplot.h"
#include "throttle/controllers.h"

namespace nvmemu {
namespace {

constexpr double kGiga = 1e9;

// Without the point of no limit: it is far to the right, and as high as those before it.
std::string data_of(const Curve& curve) {
  std::string data = fmt::format("$node{} << END\n", curve.node);
  for (const CurvePoint& point : curve.points) {
    if (point.value < kThrottleLimit) data += fmt::format("{} {}\n", point.value, point.bps / kGiga);
  }
  return data + "END\n";
}

std::string script_for(const Curves& curves) {
  std::string script =
      "set terminal svg size 720,440 noenhanced background 'white'\n"
      "set xlabel 'thermal register (commands of a DIMM in a microsecond)'\n"
      "set ylabel 'STREAM copy (GB/s)'\nset xrange [0:*]\nset yrange [0:*]\nset key bottom right\nset grid\n";
  std::string plots;
  int colour = 0;
  for (const Curve& curve : curves.nodes) {
    script += data_of(curve);
    plots += fmt::format(
        "{0}$node{1} using 1:2 with points pt 7 lc {6} title 'node {1}', "
        "[{2}:{3}] {4} + {5} * x with lines lc {6} title 'node {1}, the linear part'",
        plots.empty() ? "plot " : ", ", curve.node, curve.linear_first, curve.linear_last,
        curve.offset_bps / kGiga, curve.slope_bps / kGiga, ++colour);
  }
  return script + plots + "\n";
}

}  // namespace

Result<void> plot_curves(const Curves& curves, const std::string& svg_path) {
  if (curves.nodes.empty()) return failure("there is no curve to plot");
  return draw_into(svg_path, script_for(curves));
}

}  // namespace nvmemu
