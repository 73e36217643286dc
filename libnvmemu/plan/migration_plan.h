// SPDX-License-Identifier: Apache-2.0
// By which policy memory moves between tiers: of --policy and NVMEMU_POLICY.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/bandwidth_target.h"
#include "plan/tier_plan.h"

namespace nvmemu {

struct MigrationPlan {
  std::string policy = "none";  // a name that find_migration_policy() knows
  double window_ns = 1e9;       // after so much time it is seen what was waited for; 10 ms to 60 s
  double rate_bps = 1e9;        // no more is moved than this

  bool empty() const { return policy == "none"; }
};

// POLICY[,window=TIME][,rate=BANDWIDTH], which goes with `tiers`: one of them has DRAM of limited size beside
// it.
Result<MigrationPlan> parse_migration(std::string_view text, const TierPlan& tiers);
// What parse_migration() reads as the same.
std::string format_migration(const MigrationPlan& plan);

// The tier that has; 0: none does.
TierId limited_tier(const TierPlan& tiers);

// How long a byte takes from a memory to another: that of the slower one, where none is limited 10 GB/s.
double move_ns_per_byte(const BandwidthTarget& from, const BandwidthTarget& to);

}  // namespace nvmemu
