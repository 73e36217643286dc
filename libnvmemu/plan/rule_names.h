// SPDX-License-Identifier: Apache-2.0
// The sampler's rules by name, as options and the environment have those that are switched off.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "walk/rules.h"

namespace nvmemu {

// All but those that `names` has, by commas; an error where there is none of such a name.
Result<Rules> parse_rules_without(std::string_view names);

// The names of those that are switched off, by commas.
std::string names_without(Rules rules);

}  // namespace nvmemu
