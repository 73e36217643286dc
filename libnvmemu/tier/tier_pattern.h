// SPDX-License-Identifier: Apache-2.0
// Memory of one tier, or of several in turn by address, as a kernel interleaves pages over its nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tier/tier.h"

namespace nvmemu {

struct TierPattern {
  struct Part {
    TierId tier = 0;
    std::uint32_t pages = 1;

    friend bool operator==(const Part&, const Part&) = default;
  };

  ByTier<Part> parts{};  // `count` of them: pages of the first, then of the second, and so on
  std::uint32_t count = 1;
  std::uintptr_t page_bytes = 4096;
  std::uint8_t origin = 0;  // what asked for it, where that is to be told apart; 0: nothing

  static TierPattern all_of(TierId tier) noexcept {
    TierPattern pattern;
    pattern.parts[0].tier = tier;
    return pattern;
  }

  bool is_interleaved() const noexcept { return count > 1; }
  std::uint32_t pages_in_turn() const noexcept {
    std::uint32_t pages = 0;
    for (std::size_t i = 0; i < count; ++i) pages += parts[i].pages;
    return pages;
  }
  bool has(TierId tier) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      if (parts[i].tier == tier) return true;
    }
    return false;
  }

  TierId of(std::uintptr_t address) const noexcept {
    if (count == 1) return parts[0].tier;
    std::uintptr_t page = address / page_bytes % pages_in_turn();
    std::size_t part = 0;
    while (page >= parts[part].pages) page -= parts[part++].pages;
    return parts[part].tier;
  }

  friend bool operator==(const TierPattern&, const TierPattern&) = default;
};

}  // namespace nvmemu
