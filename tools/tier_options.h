// SPDX-License-Identifier: Apache-2.0
// --tier and --tiers: what they ask for, as far as that can be told without measuring.
#pragma once

#include <string>

#include "base/result.h"
#include "host/memory_nodes.h"
#include "run_options.h"

namespace nvmemu {

// Of request.tiers, and what goes with them; the other options are checked before.
Result<void> check_tiers(const RunOptions& options, RunRequest& request);

// Likewise for a record, which tells of nodes only those that the program is shown.
Result<void> check_recorded_tiers(const RunOptions& options, RunRequest& request);

// Whether a machine of these nodes has room for what the tier asks for: an error where it has that node
// itself, warnings where there is less memory.
Result<void> check_against_machine(const TierSpec& tier, const MemoryNodes& machine, RunRequest& request);

// The error where nothing is walked, for the reason that it begins with, and `asked`, an option, asks for
// what only walks tell.
tl::unexpected<Error> only_walks_tell(const std::string& why, const std::string& what,
                                      const std::string& asked);

}  // namespace nvmemu
