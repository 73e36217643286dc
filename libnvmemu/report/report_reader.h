// SPDX-License-Identifier: Apache-2.0
// Run reports back from their files. For tools: not async-signal-safe, and it allocates.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "report/run_report.h"

namespace nvmemu {

// `text`: JSON of schema "nvmemu-run-1". An error says which field is missing or of the wrong kind.
Result<RunReport> parse_report(std::string_view text);

// Likewise from a file, which an error names.
Result<RunReport> read_report(const std::string& path);

}  // namespace nvmemu
