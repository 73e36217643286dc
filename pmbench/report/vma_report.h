// SPDX-License-Identifier: Apache-2.0
// Runs of `pmbench vma` side by side.
#pragma once

#include <vector>

#include "areas/vma_result.h"
#include "report/large_memory.h"

namespace nvmemu::pmbench {

// Text: a table by pattern and call. CSV: a line for each band of each. Plots: medians, means and p99 by the
// number of operations done; fork by areas, where it was measured; latencies, cumulated.
LargeMemoryReport vma_report(const std::vector<Named<VmaResult>>& all);

// The plots of it: vma_plots.cc.
std::vector<Plot> vma_plots(const std::vector<Named<VmaResult>>& all);

}  // namespace nvmemu::pmbench
