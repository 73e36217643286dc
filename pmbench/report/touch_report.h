// SPDX-License-Identifier: Apache-2.0
// Runs of `pmbench touch` and `kswapd` side by side.
#pragma once

#include <vector>

#include "report/large_memory.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

// Text: what the run itself printed; of several files, a line for each case of each. CSV: a line for each
// run. Plots: touches and their time, cumulated by latency; resident set by touches; who reclaimed.
LargeMemoryReport touch_report(const std::vector<Named<TouchResult>>& all);

// The plots of it: touch_plots.cc.
std::vector<Plot> touch_plots(const std::vector<Named<TouchResult>>& all);

}  // namespace nvmemu::pmbench
