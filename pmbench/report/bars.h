// SPDX-License-Identifier: Apache-2.0
// Horizontal bars, each of parts one after another, with its name above.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/plot_scripts.h"

namespace nvmemu::pmbench {

struct Bars {
  struct Part {
    std::string name, colour;  // colour: #rrggbb
  };
  struct Bar {
    std::string name;
    std::vector<double> values;  // of each part
  };
  std::string_view title;
  std::string x_axis;  // settings of gnuplot: its range, its format
  std::vector<Part> parts;
  std::vector<Bar> bars;  // from the top
};

PlotScript bars_script(const Bars& bars);

}  // namespace nvmemu::pmbench
