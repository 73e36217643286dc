// SPDX-License-Identifier: Apache-2.0
// Making a set of files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "storage_bench/data_set.h"

namespace nvmemu::storage_bench {

// Asked from time to time: whether to end now.
using StopAsked = std::function<bool()>;

// Bytes that do not compress, the same in each run.
std::vector<char> make_content(std::uint64_t bytes);

// All folders, the files that exist at the start, and the log where the flow has one. False: it was stopped.
Result<bool> make_files(const DataSet& set, const Flow& flow, const std::string& folder,
                        const StopAsked& stop);

}  // namespace nvmemu::storage_bench
