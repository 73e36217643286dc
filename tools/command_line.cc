// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvmemu {
namespace {

// Whether the argument after `option` is its value.
bool takes_next(const CLI::App& run, const std::string& option) {
  if (option.find('=') != std::string::npos) return false;
  const CLI::Option* known = run.get_option_no_throw(option);
  return known != nullptr && known->get_items_expected_max() > 0;
}

}  // namespace

std::vector<std::string> cut_off_command(const CLI::App& run, std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != run.get_name()) return {};
  std::size_t begin = 1;
  while (begin < arguments.size() && arguments[begin] != "--") {
    const std::string& argument = arguments[begin];
    if (argument.size() < 2 || argument.front() != '-') break;
    begin += takes_next(run, argument) ? 2 : 1;
  }
  if (begin >= arguments.size()) return {};
  const bool marked = arguments[begin] == "--";
  const auto first = std::next(arguments.begin(), static_cast<std::ptrdiff_t>(begin));
  std::vector<std::string> command(std::next(first, marked ? 1 : 0), arguments.end());
  arguments.erase(first, arguments.end());
  return command;
}

std::vector<std::string> cut_off_after_dashes(std::vector<std::string>& arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes == arguments.end()) return {};
  std::vector<std::string> command(std::next(dashes), arguments.end());
  arguments.erase(dashes, arguments.end());
  return command;
}

}  // namespace nvmemu
