// SPDX-License-Identifier: Apache-2.0
// A flow in Filebench's language, to compare it with what Filebench makes of it.
#pragma once

#include <string>

#include "base/result.h"
#include "storage_bench/flow.h"

namespace nvmemu::storage_bench {

// From some so many files a thread on, Filebench was not seen to end early for want of a file.
inline constexpr std::uint64_t kFilebenchFilesOfThread = 250;

// For Filebench 1.5, with its files in `directory`. Runs for `seconds`, rounded up: rounds and seeds it does
// not know. An error where `directory` is a name that Filebench cannot read.
Result<std::string> filebench_text(const Flow& flow, const Parameters& parameters,
                                   const std::string& directory);

}  // namespace nvmemu::storage_bench
