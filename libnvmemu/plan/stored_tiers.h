// SPDX-License-Identifier: Apache-2.0
// What is mapped of files in memory that stands for storage is a tier of that memory.
#pragma once

#include "base/result.h"
#include "plan/config.h"

namespace nvmemu {

// Of each such folder, which has been found. Only walks tell of tiers: where nothing is walked there are
// none, and such mappings cost nothing more. Those that `config` has from who started the run are left as
// they are.
Result<void> add_stored_tiers(Config& config);

}  // namespace nvmemu
