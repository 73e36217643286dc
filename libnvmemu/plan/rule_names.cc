// SPDX-License-Identifier: Apache-2.0
#include "plan/rule_names.h"

#include <algorithm>
#include <optional>

#include "base/quote.h"

namespace nvmemu {

Result<Rules> parse_rules_without(std::string_view names) {
  Rules rules;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    const std::optional<Rule> rule = find_rule(name);
    if (!rule) return failure("there is no rule " + quote(name), "docs/ablation.md has their names");
    rules.switch_off(*rule);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return rules;
}

std::string names_without(Rules rules) {
  std::string names;
  for (std::size_t i = 0; i < kRules; ++i) {
    if (!rules.has(static_cast<Rule>(i))) names += (names.empty() ? "" : ",") + std::string(kRuleNames[i]);
  }
  return names;
}

}  // namespace nvmemu
