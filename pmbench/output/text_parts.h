// SPDX-License-Identifier: Apache-2.0
// The parts of the text report; each is lines, the last of them ended.
#pragma once

#include <string>

#include "run/result.h"

namespace nvmemu::pmbench {

std::string run_lines(const RunResult& result);        // what the original says while it runs
std::string signature_lines(const RunResult& result);  // what ran where, with which parameters
std::string machine_lines(const RunResult& result);
std::string latency_lines(const RunResult& result);    // means, thread by thread
std::string histogram_lines(const RunResult& result);  // in the original's bands
std::string memory_lines(const RunResult& result);     // /proc/meminfo and /proc/vmstat
std::string measured_lines(const RunResult& result);   // what the original does not have

}  // namespace nvmemu::pmbench
