// SPDX-License-Identifier: Apache-2.0
// What is in one tier: the rules that follow its name and memory in --tier, while they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "plan/tier_plan.h"

namespace nvmemu {

// Of smaller blocks too little is whole pages.
inline constexpr std::uint64_t kLeastBlockBytes = std::uint64_t{64} << 10;

struct TierRules {
  TierSpec& tier;
  std::optional<std::pair<std::uint32_t, std::uint32_t>>
      interleave{};  // pages of the machine's memory, of it
  bool rest = false;
  std::uintptr_t page_bytes = 0;  // 0: not given

  // "file=/mnt/pmem". An error where there is no such rule, or it cannot mean that.
  Result<void> read(std::string_view text);
  // Whether they go together.
  Result<void> check() const;
};

// "tier NAME: WHAT"
tl::unexpected<Error> wrong_tier(std::string_view name, const std::string& what, std::string_view hint = {});

}  // namespace nvmemu
