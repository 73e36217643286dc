// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvmemu {
namespace {

// Whether the argument after `option` is its value.
bool takes_next(const Parser& run, const std::string& option) {
  if (option.find('=') != std::string::npos) return false;
  return run.takes_value(option);
}

}  // namespace

std::vector<std::string> cut_off_command(const Parser& run, std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != run.name()) return {};
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

void describe_command(Parser& subcommand, const std::string& description) {
  subcommand.long_description(description);
  subcommand.usage("[OPTIONS] [--] COMMAND [ARG...]");
  subcommand.column_width(34);
}

}  // namespace nvmemu
