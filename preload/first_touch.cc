// SPDX-License-Identifier: Apache-2.0
#include "first_touch.h"

#include "resident_pages.h"
#include "walk/mappings.h"

namespace nvmemu::preload {

void FirstTouch::open(const TierPlan& plan) noexcept {
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) {
    if (plan.tiers[i].after_bytes == 0) continue;
    tier_ = static_cast<TierId>(i + 1);
    bytes_ = plan.tiers[i].after_bytes;
    peak_.open();
  }
}

void FirstTouch::divide(Placement& placement) noexcept {
  if (is_over_.exchange(true)) return;
  for_each_mapping([&](const Mapping& mapping) {
    if (mapping.is_device) return;
    for_each_run(mapping.range.begin, mapping.range.end - mapping.range.begin,
                 [&](std::uintptr_t first, std::size_t bytes, bool is_resident) {
                   if (is_resident) placement.keep(first, bytes);
                 });
  });
  placement.set_otherwise(tier_);
}

}  // namespace nvmemu::preload
