// SPDX-License-Identifier: Apache-2.0
// The first line of a script. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nvmemu {

// "#!INTERPRETER [ONE ARGUMENT]", as the kernel splits it.
struct Shebang {
  std::string interpreter;
  std::string argument;
};

// Of a file that begins so; nothing where it is no script.
std::optional<Shebang> parse_shebang(std::string_view head);

// The command that "env ARGUMENT" runs: the first word that is neither an option nor an assignment.
std::string command_of_env(const std::string& argument);

}  // namespace nvmemu
