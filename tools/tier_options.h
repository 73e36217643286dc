// SPDX-License-Identifier: Apache-2.0
// --tier and --tiers: what they ask for, as far as that can be told without measuring.
#pragma once

#include "run_options.h"

namespace nvmemu {

// Of request.tiers, and what goes with them; the other options are checked before.
Result<void> check_tiers(const RunOptions& options, RunRequest& request);

}  // namespace nvmemu
