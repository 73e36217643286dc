// SPDX-License-Identifier: Apache-2.0
#include "shebang.h"

#include <algorithm>
#include <sstream>

namespace nvmemu {

std::optional<Shebang> parse_shebang(std::string_view head) {
  constexpr std::string_view kBlanks = " \t";
  if (!head.starts_with("#!")) return std::nullopt;
  head.remove_prefix(2);
  head = head.substr(0, head.find_first_of(std::string_view("\n\0", 2)));
  head.remove_prefix(std::min(head.find_first_not_of(kBlanks), head.size()));
  const std::size_t end = std::min(head.find_first_of(kBlanks), head.size());
  Shebang shebang{std::string(head.substr(0, end)), {}};
  head.remove_prefix(end);
  head.remove_prefix(std::min(head.find_first_not_of(kBlanks), head.size()));
  shebang.argument = head.substr(0, head.find_last_not_of(kBlanks) + 1);
  return shebang;
}

std::string command_of_env(const std::string& argument) {
  std::istringstream words(argument);
  for (std::string word; words >> word;) {
    if (word.front() != '-' && word.find('=') == std::string::npos) return word;
  }
  return {};
}

}  // namespace nvmemu
