// SPDX-License-Identifier: Apache-2.0
// A run as JSON, all that it found: schema "pmbench-run-1", described in docs/pmbench-json.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/result.h"

namespace nvmemu::pmbench {

inline constexpr std::string_view kJsonSchema = "pmbench-run-1";

std::string to_json(const RunResult& result);
Result<void> write_json(const RunResult& result, const std::string& path);

// Errors name the field, as in threads[0].reads.count; those of read_json the file too.
Result<RunResult> parse_json(std::string_view text);
Result<RunResult> read_json(const std::string& path);

}  // namespace nvmemu::pmbench
