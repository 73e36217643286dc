// SPDX-License-Identifier: Apache-2.0
// The gnuplot script of each plot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/comparison.h"
#include "report/curves.h"
#include "report/plot_layout.h"

namespace nvmemu::pmbench {

struct PlotScript {
  std::string text;
  unsigned height_px = kPlotHeightPx;
};

// The title, and that there is nothing to draw.
PlotScript nothing_recorded(std::string_view title);

// Accesses by latency, on a logarithmic x axis. Buckets differ in width, so a curve is a density: accesses in
// 1/32 of an octave (about a bucket's width from 64 ns on).
PlotScript histogram_script(const Comparison& comparison, bool logarithmic_y);

// Which share of what is counted took no longer than that; or, `of_time`, how much of all its time was in
// what took no longer.
struct CumulatedPlot {
  std::string_view title, y_label;
  bool of_time = false;
  std::vector<Curve> curves;
};
PlotScript cumulated_script(const CumulatedPlot& plot);

// Of accesses.
PlotScript cdf_script(const Comparison& comparison);

// One bar for each group: where the time in accesses went.
PlotScript time_spent_script(const Comparison& comparison);

// Over time, for each run that has a series: accesses/s, p99, major faults/s.
PlotScript series_script(const Comparison& comparison);
bool has_series(const Comparison& comparison);

}  // namespace nvmemu::pmbench
