// SPDX-License-Identifier: Apache-2.0
// Moves a process's memory between tiers, window by window, as a policy has it: in the map of tiers, and
// nowhere else. Zeros are a valid state: to lie in memory mapped for it alone (map_zeroed()).
// Async-signal-safe.
#pragma once

#include <array>
#include <cstdint>

#include "tier/migration_policy.h"
#include "tier/region_heat.h"
#include "tier/tier_map.h"

namespace nvmemu {

struct Migrated {
  std::uint64_t promotions = 0, demotions = 0;
  std::uint64_t promoted_bytes = 0, demoted_bytes = 0;
};

class Migrations {
 public:
  // A window is over: what was waited for in it, by the policy, is or is not in the machine's memory (tier 0)
  // from now on, or in the tier `slow`. Regions of which what made them known is in neither, or in a pattern
  // of tiers, stay. One thread at a time.
  Migrated end_window(const MigrationPolicy& policy, TierId slow, const MigrationRoom& room, RegionHeat& heat,
                      TierMap& map) noexcept;

  // In the child of a fork, whose heat is its own.
  void forget() noexcept;

 private:
  std::size_t gather(TierId slow, RegionHeat& heat, const TierMap& map) noexcept;

  std::array<std::uint64_t, RegionHeat::kMost> waited_;  // by the end of the last window,
  std::array<std::uint64_t, RegionHeat::kMost> before_;  // in it alone,
  std::array<std::uint64_t, RegionHeat::kMost> heat_;    // and by it, the past counting by half
  std::array<RegionWindow, RegionHeat::kMost> regions_;
};

}  // namespace nvmemu
