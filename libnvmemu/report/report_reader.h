// SPDX-License-Identifier: Apache-2.0
// Run reports back from their files, and several made into one: the ranks of a parallel program, say, each of
// which was run by an nvmemu of its own. For tools: not async-signal-safe, and it allocates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "report/run_report.h"

namespace nvmemu {

// `text`: JSON of schema "nvmemu-run-1". An error says which field is missing or of the wrong kind.
Result<RunReport> parse_report(std::string_view text);

// Likewise from a file, which an error names.
Result<RunReport> read_report(const std::string& path);

// One report of all: processes together, figures summed, the longest time, the highest exit status, every
// warning once. `reports` holds at least one. An error where they are of different targets (by more than a
// quarter: ranks measure the base latency that "2x" is a multiple of each for itself) or models.
Result<RunReport> merge_reports(const std::vector<RunReport>& reports);

}  // namespace nvmemu
