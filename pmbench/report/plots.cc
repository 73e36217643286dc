// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "report/gnuplot.h"
#include "report/plot_scripts.h"

namespace nvmemu::pmbench {
namespace {

// Letters of 12 pixels: SVG's unit of a font is the pixel, PNG's the point of 4/3 pixels.
std::string terminal(PlotFormat format, unsigned height_px, const std::string& path) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal {} size {},{} noenhanced font 'sans,{}' background rgb 'white'\n"
      "set output {}\n",
      format == PlotFormat::kSvg ? "svg" : "pngcairo", kPlotWidthPx, height_px,
      format == PlotFormat::kSvg ? 12 : 9, gnuplot_string(path));
}

Plot plot_of(const char* name, PlotScript script) { return {name, std::move(script.text), script.height_px}; }

}  // namespace

std::vector<Plot> plots_of(const Comparison& comparison) {
  std::vector<Plot> plots{plot_of("histogram", histogram_script(comparison, false)),
                          plot_of("histogram-log", histogram_script(comparison, true)),
                          plot_of("cdf", cdf_script(comparison)),
                          plot_of("time-spent", time_spent_script(comparison))};
  if (has_series(comparison)) plots.push_back(plot_of("series", series_script(comparison)));
  return plots;
}

Result<std::vector<std::string>> draw_plots(const Comparison& comparison, const std::string& folder,
                                            PlotFormat format) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return failure(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  std::vector<std::string> paths;
  for (const Plot& plot : plots_of(comparison)) {
    const std::string path = folder + "/" + plot.name + (format == PlotFormat::kSvg ? ".svg" : ".png");
    const Result<void> drawn = run_gnuplot(terminal(format, plot.height_px, path) + plot.script);
    if (!drawn) return tl::unexpected(drawn.error());
    paths.push_back(path);
  }
  return paths;
}

}  // namespace nvmemu::pmbench
