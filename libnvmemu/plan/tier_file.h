// SPDX-License-Identifier: Apache-2.0
// Tiers in a TOML file: a [[tier]] for each, with a name, a memory, and the rules of --tier as keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu {

struct TierText {
  std::string text;   // as add_tier() takes it
  std::string where;  // "FILE:LINE"
};

// Errors begin with where they are. `path`: for them.
Result<std::vector<TierText>> parse_tier_file(std::string_view toml, const std::string& path);
Result<std::vector<TierText>> read_tier_file(const std::string& path);

}  // namespace nvmemu
