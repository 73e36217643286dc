// SPDX-License-Identifier: Apache-2.0
// Several run reports made into one: the ranks of a parallel program, say, each of which was run by an nvmemu
// of its own. For tools: not async-signal-safe, and it allocates.
#pragma once

#include <vector>

#include "base/result.h"
#include "report/run_report.h"

namespace nvmemu {

// One report of all: processes together, figures summed, the longest time, the highest exit status, every
// warning once. `reports` holds at least one. An error where they are of different targets (by more than a
// quarter: ranks measure the base latency that "2x" is a multiple of each for itself) or models.
Result<RunReport> merge_reports(const std::vector<RunReport>& reports);

}  // namespace nvmemu
