// SPDX-License-Identifier: Apache-2.0
// The gnuplot script of each plot.
#pragma once

#include <string>

#include "report/comparison.h"

namespace nvmemu::pmbench {

// Accesses by latency, on a logarithmic x axis. Buckets differ in width, so a curve is a density: accesses in
// 1/32 of an octave (about a bucket's width from 64 ns on).
std::string histogram_script(const Comparison& comparison, bool logarithmic_y);

// Which share of the accesses took no longer than that.
std::string cdf_script(const Comparison& comparison);

// One bar for each group: where the time in accesses went.
std::string time_spent_script(const Comparison& comparison);

// Over time, for each run that has a series: accesses/s, p50 and p99, major faults/s.
std::string series_script(const Comparison& comparison);
bool has_series(const Comparison& comparison);

}  // namespace nvmemu::pmbench
