// SPDX-License-Identifier: Apache-2.0
// From what a timed load takes on, it comes from memory: an option of the programs that count such loads.
#pragma once

#include <string>

#include "arguments/parser.h"
#include "base/result.h"

namespace nvmemu::programs {

// `with`: the option that it goes with. Empty text: as calibrated.
void add_threshold(Parser& app, std::string& text, const std::string& with);

// Throws UsageError where it is no latency.
void check_threshold(const std::string& text);

// Fences included. An error where it is not given and there is no calibration.
Result<double> threshold_ns(const std::string& text);

}  // namespace nvmemu::programs
