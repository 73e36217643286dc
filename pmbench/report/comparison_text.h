// SPDX-License-Identifier: Apache-2.0
// A comparison as people read it, as programs do, and as spreadsheets do.
#pragma once

#include <string>

#include "report/comparison.h"

namespace nvmemu::pmbench {

std::string comparison_text(const Comparison& comparison);

// Schema "pmbench-report-1", described in docs/pmbench-report.md.
std::string comparison_json(const Comparison& comparison);

// A line for each run (kind "run") and for each group (kind "average", with half widths of the 95 %
// confidence intervals); the columns are the parameters and the figures.
std::string comparison_csv(const Comparison& comparison);

// The groups' histograms, averaged over the runs of each: begin_ns,end_ns, then reads and writes of each
// group.
std::string histograms_csv(const Comparison& comparison);

}  // namespace nvmemu::pmbench
