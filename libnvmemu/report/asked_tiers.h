// SPDX-License-Identifier: Apache-2.0
// What the report says of tiers before the command starts.
#pragma once

#include <string>
#include <vector>

#include "plan/tier_plan.h"
#include "report/run_report.h"

namespace nvmemu {

// The machine's own memory, of `profile` and taking `target_ns`, and the tiers of `plan`, whose latencies are
// in ns; nothing where it has none.
std::vector<TierReport> report_of_tiers(const TierPlan& plan, const std::string& profile, double target_ns);

}  // namespace nvmemu
