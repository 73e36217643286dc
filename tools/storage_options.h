// SPDX-License-Identifier: Apache-2.0
// --storage and --page-cache: which folders' files are to behave as if they lay elsewhere.
#pragma once

#include "base/result.h"
#include "run_options.h"

namespace nvmemu {

// Whether there are such folders, and such storage; into `request`.
Result<void> check_storage_options(const RunOptions& options, RunRequest& request);

}  // namespace nvmemu
