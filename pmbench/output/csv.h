// SPDX-License-Identifier: Apache-2.0
// A run as comma-separated values (RFC 4180, but lines end in \n), a line of names first.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "run/result.h"

namespace nvmemu::pmbench {

// `text` as it can stand between commas.
std::string csv_field(std::string_view text);

// The histogram, one line for each bucket that anything fell into:
//   begin_ns,end_ns,reads,writes,classed_hits,classed_minor_faults,classed_major_faults
// The last bucket has no end.
std::string to_csv(const RunResult& result);
Result<void> write_csv(const RunResult& result, const std::string& path);

// The time series, one line for each second:
//   at_s,seconds,phase,accesses,accesses_per_s,p50_ns,p99_ns,max_ns,minor_faults,major_faults
// and then every counter that any second has, in the order in which they first appear; empty where a second
// does not have it.
std::string to_series_csv(const RunResult& result);
Result<void> write_series_csv(const RunResult& result, const std::string& path);

}  // namespace nvmemu::pmbench
