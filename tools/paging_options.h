// SPDX-License-Identifier: Apache-2.0
// --dram and its kin: how much of a program's memory is in DRAM, and what the rest lies on.
#pragma once

#include "base/result.h"
#include "run_options.h"

namespace nvmemu {

// Whether they go together, this machine can do it, and there is room; into `request`.
Result<void> check_paging_options(const RunOptions& options, RunRequest& request);

}  // namespace nvmemu
