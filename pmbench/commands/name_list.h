// SPDX-License-Identifier: Apache-2.0
// Options that take some of a table's names, or all.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "commands/command.h"
#include "run/typed_options.h"

namespace nvmemu::pmbench {

// "a,c", or "all": of each the value, once, in the order in which they were written. `table`: of
// descriptions, each with a `name`.
template <typename Table, typename Description, typename Value>
std::vector<Value> read_names(std::string_view option, const std::string& text, const Table& table,
                              Value Description::*value) {
  std::string names = "all";
  for (const Description& known : table) names += fmt::format(", {}", known.name);
  std::vector<Value> values;
  for (const std::string& name : parts_of(text)) {
    bool is_known = false;
    for (const Description& known : table) {
      if (name != known.name && name != "all") continue;
      is_known = true;
      if (std::ranges::find(values, known.*value) == values.end()) values.push_back(known.*value);
    }
    if (!is_known) refuse(fmt::format("{}: {} is not one of {}", option, quote(name), names));
  }
  if (values.empty()) refuse(fmt::format("{}: write one or more of {}", option, names));
  return values;
}

// For help: a line for each, with its `text`.
template <typename Table>
std::string help_of_names(std::string help, const Table& table) {
  for (const auto& known : table) help += fmt::format("\n{}: {}", known.name, known.text);
  return help;
}

}  // namespace nvmemu::pmbench
