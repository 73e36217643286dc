// SPDX-License-Identifier: Apache-2.0
#include "tier/migrations.h"

#include <span>

#include "base/mapped.h"

namespace nvmemu {

// Those that may move, as the window has them; what of all was waited for is remembered.
std::size_t Migrations::gather(TierId slow, RegionHeat& heat, const TierMap& map) noexcept {
  std::size_t count = 0;
  heat.for_each(0, [&](std::size_t index, const RegionHeat::Region& region) {
    const std::uint64_t all = region.waited_in_all();
    const std::uint64_t waited = all - waited_[index], before = before_[index];
    waited_[index] = all;
    before_[index] = waited;
    heat_[index] = waited + heat_[index] / 2;
    const std::uintptr_t at = region.noted_at.load(std::memory_order_relaxed);
    const TierId tier = map.tier_of(at);
    if (map.placed_in(at).value_or(tier) != tier || (tier != 0 && tier != slow)) return;
    const std::uint64_t bytes = region.resident_bytes.load(std::memory_order_relaxed);
    regions_[count++] = {.address = region.address(),
                         .waited = waited,
                         .waited_before = before,
                         .heat = heat_[index],
                         .bytes = bytes > 0 ? bytes : RegionHeat::kRegionBytes,
                         .is_fast = tier == 0,
                         .moves = false};
  });
  return count;
}

Migrated Migrations::end_window(const MigrationPolicy& policy, TierId slow, const MigrationRoom& room,
                                RegionHeat& heat, TierMap& map) noexcept {
  const std::span<RegionWindow> regions(regions_.data(), gather(slow, heat, map));
  const std::size_t moves = plan_migration(policy, regions, room);
  Migrated migrated;
  for (const RegionWindow& region : regions.first(moves)) {
    const TierId from = region.is_fast ? TierId{0} : slow, to = region.is_fast ? slow : TierId{0};
    if (!map.move(region.address, RegionHeat::kRegionBytes, from, to)) break;  // there is no room to note it
    (region.is_fast ? migrated.demotions : migrated.promotions) += 1;
    (region.is_fast ? migrated.demoted_bytes : migrated.promoted_bytes) += region.bytes;
  }
  return migrated;
}

void Migrations::forget() noexcept { zero_mapped(this); }

}  // namespace nvmemu
