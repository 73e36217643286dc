// SPDX-License-Identifier: Apache-2.0
// What walks know of tiers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tier/tier_map.h"

namespace nvmemu {

struct WalkTiers {
  const TierMap* map = nullptr;  // a process's own; null: all is tier 0
  // How much longer than here loads from memory are to take. All 0: it is not known, and the model of the
  // core then doubles what they take here.
  ByTier<double> longer_ns{};
  ByTier<std::size_t> block_bytes{};  // that a tier's medium writes at once; 0: lines

  TierId of(std::uintptr_t address) const noexcept {
    return map == nullptr ? TierId{0} : map->tier_of(address);
  }
};

}  // namespace nvmemu
