// SPDX-License-Identifier: Apache-2.0
// What runs look like, drawn by gnuplot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/comparison.h"
#include "report/plot_scripts.h"

namespace nvmemu::pmbench {

// A gnuplot script but for its terminal and output, and the name of the file that it makes.
struct Plot {
  std::string name;
  std::string script;
  unsigned height_px;
};

Plot plot_of(std::string name, PlotScript script);

// histogram and histogram-log (the same with a logarithmic y axis), cdf, time-spent, and where a run has a
// time series, series. One curve for each group, averaged over its runs; reads and writes apart where there
// is one group.
std::vector<Plot> plots_of(const Comparison& comparison);

enum class PlotFormat : std::uint8_t { kSvg, kPng };

// These into `folder`, which is made where there is none; the paths that were written.
Result<std::vector<std::string>> draw_plots(const std::vector<Plot>& plots, const std::string& folder,
                                            PlotFormat format = PlotFormat::kSvg);

}  // namespace nvmemu::pmbench
