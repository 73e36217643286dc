// SPDX-License-Identifier: Apache-2.0
#include "report/plots.h"

#include <fmt/format.h>

#include <filesystem>

#include "report/gnuplot.h"
#include "report/plot_scripts.h"

namespace nvmemu::pmbench {
namespace {

std::string terminal(PlotFormat format, const std::string& path) {
  return fmt::format(
      "set encoding utf8\n"
      "set terminal {} size 960,600 noenhanced font 'sans,12' background rgb 'white'\n"
      "set output {}\n",
      format == PlotFormat::kSvg ? "svg" : "pngcairo", gnuplot_string(path));
}

}  // namespace

std::vector<Plot> plots_of(const Comparison& comparison) {
  std::vector<Plot> plots{{"histogram", histogram_script(comparison, false)},
                          {"histogram-log", histogram_script(comparison, true)},
                          {"cdf", cdf_script(comparison)},
                          {"time-spent", time_spent_script(comparison)}};
  if (has_series(comparison)) plots.push_back({"series", series_script(comparison)});
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
    const Result<void> drawn = run_gnuplot(terminal(format, path) + plot.script);
    if (!drawn) return tl::unexpected(drawn.error());
    paths.push_back(path);
  }
  return paths;
}

}  // namespace nvmemu::pmbench
