// SPDX-License-Identifier: Apache-2.0
// Why a group of counters could not be opened, for a person to read. Not for signal handlers (it allocates).
#pragma once

#include <string_view>

#include "base/result.h"
#include "counters/pmu/event_group.h"

namespace nvmemu {

// `event`: the name of the one that was refused.
Error explain_refusal(const OpenFailure& failure, std::string_view event);

}  // namespace nvmemu
