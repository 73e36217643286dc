// SPDX-License-Identifier: Apache-2.0
// A flow's result for people.
#pragma once

#include <string>

#include "storage_bench/run.h"

namespace nvmemu::storage_bench {

// "1000 files of 16 KiB in the mean, 4 threads"
std::string describe(const Parameters& parameters);

// A table of its operations, those of a kind together, and what they come to in all.
std::string text_report(const FlowResult& result);

}  // namespace nvmemu::storage_bench
