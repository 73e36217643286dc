// SPDX-License-Identifier: Apache-2.0
#include "plan/stored_tiers.h"

#include <algorithm>

namespace nvmemu {
namespace {

bool has_tier(const TierPlan& plan, const std::string& name, const std::string& path) {
  return std::ranges::any_of(plan.tiers, [&](const TierSpec& tier) {
    return tier.name == name && tier.files == std::vector<std::string>{path};
  });
}

}  // namespace

Result<void> add_stored_tiers(Config& config) {
  if (!why_unwalked(config).empty()) return {};
  int number = 0;
  for (const StorageFolder& folder : config.storage.folders) {
    ++number;
    if (folder.device.memory.empty()) continue;
    const std::string name = "storage" + std::to_string(number);
    if (has_tier(config.tiers, name, folder.path)) continue;
    const auto added = add_tier(config.tiers, name + "=" + folder.device.memory + ",file=" + folder.path);
    if (!added) return added;
    config.tiers.tiers.back().of_storage = true;
  }
  return {};
}

}  // namespace nvmemu
