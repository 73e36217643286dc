// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <fmt/format.h>

#include <utility>

#include "base/gnuplot.h"
#include "base/ownership.h"
#include "report/plot_scripts.h"

namespace nvmemu::pmbench {
namespace {

// Letters of 12 pixels: SVG's unit of a font is the pixel, PNG's the point of 4/3 pixels.
std::string terminal(PlotFormat format, unsigned height_px) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal {} size {},{} noenhanced font 'sans,{}' background rgb 'white'\n",
      format == PlotFormat::kSvg ? "svg" : "pngcairo", kPlotWidthPx, height_px,
      format == PlotFormat::kSvg ? 12 : 9);
}

}  // namespace

Plot plot_of(std::string name, PlotScript script) {
  return {std::move(name), std::move(script.text), script.height_px};
}

std::vector<Plot> plots_of(const Comparison& comparison) {
  std::vector<Plot> plots{plot_of("histogram", histogram_script(comparison, false)),
                          plot_of("histogram-log", histogram_script(comparison, true)),
                          plot_of("cdf", cdf_script(comparison)),
                          plot_of("time-spent", time_spent_script(comparison))};
  if (has_series(comparison)) plots.push_back(plot_of("series", series_script(comparison)));
  return plots;
}

Result<std::vector<std::string>> draw_plots(const std::vector<Plot>& plots, const std::string& folder,
                                            PlotFormat format) {
  if (const auto made = make_folders(folder, 0777); !made) return tl::unexpected(made.error());
  std::vector<std::string> paths;
  for (const Plot& plot : plots) {
    const std::string path = folder + "/" + plot.name + (format == PlotFormat::kSvg ? ".svg" : ".png");
    const Result<void> drawn = draw_into(path, terminal(format, plot.height_px) + plot.script);
    if (!drawn) return tl::unexpected(drawn.error());
    paths.push_back(path);
  }
  return paths;
}

}  // namespace nvmemu::pmbench
