// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "swap/swap_request.h"

namespace nvmemu::pmbench {

// "null_blk (/dev/nullb0), whose own timer makes it slow"; of the swap that was taken for a run.
std::string swap_text(const SwapTaken& taken);

}  // namespace nvmemu::pmbench
