// SPDX-License-Identifier: Apache-2.0
// What is said of persists by who ran the program: `nvmemu run`, or the program's first process by itself.
#pragma once

#include <optional>
#include <string>

#include "plan/persist_spec.h"
#include "plan/tier_plan.h"
#include "report/run_report.h"

namespace nvmemu {

// On a machine whose own persist takes `own_ns`: of `persists` what is not on the board, and the target.
void say_asked_persists(const PersistSpec& everywhere, const TierPlan& tiers, double own_ns,
                        RunReport& report);

// What a memory takes less for than this machine does for its own persists cannot be seen: the warning.
// `whose`: how it begins.
std::optional<std::string> warning_of_persists(const PersistSpec& persists, const std::string& whose,
                                               double own_ns);

}  // namespace nvmemu
