// SPDX-License-Identifier: Apache-2.0
// The plots of the NVMpro paper (ICPE 2015), of a validation.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "suite/row.h"

namespace nvmemu::suite {

// A gnuplot script but for its terminal and output, and the name of its file.
struct Plot {
  std::string name;
  std::string script;
};

// "additional-time": what chases take longer than natively, by the number of their chains, as the truth has
// it and as emulated (figure 4). "errors": the error of each workload that a mean has, by truth, with its
// confidence interval (figure 6); limits would set its scale. Those that there are rows for.
std::vector<Plot> plots_of(const std::vector<Row>& rows);

// Whether draw_plots() could: makes the folder, and asks gnuplot to draw nothing.
Result<void> check_drawable(const std::string& folder);

// As SVG into `folder`, which is made where there is none; the paths. Needs gnuplot.
Result<std::vector<std::string>> draw_plots(const std::vector<Row>& rows, const std::string& folder);

}  // namespace nvmemu::suite
