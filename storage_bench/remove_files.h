// SPDX-License-Identifier: Apache-2.0
// Removing a run's folder: what a run makes, by name and kind, and nothing else.
#pragma once

#include <string>

#include "base/result.h"

namespace nvmemu::storage_bench {

inline constexpr const char* kMarkName = ".nvmemu-bench-storage";

// The folder and the files in it. No link is followed. Where something of another name or kind is there, it
// stays, with the folders above it and the mark, which goes last: an error. So it is where something cannot
// be removed.
Result<void> remove_folder(const std::string& folder);

}  // namespace nvmemu::storage_bench
