// SPDX-License-Identifier: Apache-2.0
// The original's XML, as its viewer (pmgraph) reads it. It holds less than a run has found (no sums, no
// faults of the process, no time series: output/json.h has them), but what every tool for the original
// understands.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/result.h"

namespace nvmemu::pmbench {

std::string to_xml(const RunResult& result);
Result<void> write_xml(const RunResult& result, const std::string& path);

// What this or the original wrote, of Linux or Windows: what a file does not have is as in an empty
// RunResult, and the result's from_bands is set. Errors name the element; those of read_xml the file too.
Result<RunResult> parse_xml(std::string_view text);
Result<RunResult> read_xml(const std::string& path);

}  // namespace nvmemu::pmbench
