// SPDX-License-Identifier: Apache-2.0
#include "report/bars.h"

#include <fmt/format.h>

#include "base/gnuplot.h"
#include "report/plot_layout.h"
#include "report/plot_style.h"

namespace nvmemu::pmbench {

PlotScript bars_script(const Bars& bars) {
  constexpr double kBarPx = 34;
  constexpr double kBetweenPx = 16;
  constexpr double kTopPx = 76, kBottomPx = 56;
  std::string data, names;
  double at_px = 0;
  for (const Bars::Bar& bar : bars.bars) {
    for (const std::string& line : lines_of_label(bar.name)) {
      names += fmt::format("set label {} at graph 0, first {:g} left offset 0.4,0\n", gnuplot_string(line),
                           at_px + kLinePx / 2.0);
      at_px += kLinePx;
    }
    data += fmt::format("{:g} ", at_px + kBarPx / 2);
    double end = 0;  // of the part
    for (const double value : bar.values) {
      data += fmt::format("{:.7g} ", end);
      end += value;
    }
    data += fmt::format("{:.7g}\n", end);
    at_px += kBarPx + kBetweenPx;
  }
  const auto height_px = static_cast<unsigned>(at_px + kTopPx + kBottomPx);
  std::string text = fmt::format(
      "{}$data << EOD\n{}EOD\n{}set border 1\nunset ytics\nset grid noytics xtics\n{}"
      "set yrange [{:g}:0]\nset tmargin at screen {:.4f}\nset bmargin at screen {:.4f}\n"
      "set lmargin at screen 0.04\nset rmargin at screen 0.96\n"
      "set style fill solid border rgb 'white'\nset key at screen 0.5,{:.4f} center top horizontal Left "
      "reverse\n",
      kAxes, data, names, bars.x_axis, at_px, 1 - kTopPx / height_px, kBottomPx / height_px,
      1 - 32.0 / height_px);
  text += title_above(bars.title, height_px) + "plot ";
  for (std::size_t part = 0; part < bars.parts.size(); ++part) {
    text += fmt::format("{}$data using {}:1:{}:{}:($1-{}):($1+{}) with boxxyerror lc rgb '{}' title {}",
                        part == 0 ? "" : ", \\\n  ", part + 2, part + 2, part + 3, kBarPx / 2, kBarPx / 2,
                        bars.parts[part].colour, gnuplot_string(bars.parts[part].name));
  }
  return {text + "\n", height_px};
}

}  // namespace nvmemu::pmbench
