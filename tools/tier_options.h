// SPDX-License-Identifier: Apache-2.0
// --tier and --tiers: what they ask for, as far as that can be told without measuring.
#pragma once

#include <string>

#include "base/result.h"
#include "run_options.h"

namespace nvmemu {

// Of request.tiers, and what goes with them; the other options are checked before.
Result<void> check_tiers(const RunOptions& options, RunRequest& request);

// Likewise for a record, which tells of nodes only those that the program is shown.
Result<void> check_recorded_tiers(const RunOptions& options, RunRequest& request);

// The error where nothing is walked, for the reason that it begins with, and `asked`, an option, asks for
// what only walks tell.
tl::unexpected<Error> only_walks_tell(const std::string& why, const std::string& what,
                                      const std::string& asked);

}  // namespace nvmemu
