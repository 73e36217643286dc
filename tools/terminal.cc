// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "base/quote.h"

namespace nvmemu {
namespace {

const char* escape_of(Style style) {
  switch (style) {
    case Style::kBold:
      return "\033[1m";
    case Style::kError:
      return "\033[1;31m";
    case Style::kWarning:
      return "\033[1;33m";
  }
  return "";
}

// What is said may come from files and programs: nothing in it is to act on the terminal. One write a
// message. That stderr cannot be written to is nothing that could be told to anyone, and no reason to stop:
// fmt::print() would throw.
void say(std::string_view kind, std::string_view text) {
  std::fputs(fmt::format("nvmemu: {}{}{}\n", kind, kind.empty() ? "" : " ", printable_lines(text)).c_str(),
             stderr);
}

}  // namespace

std::string styled(std::FILE* stream, Style style, std::string_view text) {
  const char* no_color = std::getenv("NO_COLOR");
  if ((no_color != nullptr && *no_color != '\0') || isatty(fileno(stream)) == 0) return std::string(text);
  return fmt::format("{}{}\033[0m", escape_of(style), text);
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", number, number == 1 ? one : many);
}

void print_error(const Error& error) {
  say(styled(stderr, Style::kError, "error:"), error.message);
  if (!error.hint.empty()) say(styled(stderr, Style::kBold, "hint:"), error.hint);
}

void print_warning(std::string_view text) { say(styled(stderr, Style::kWarning, "warning:"), text); }

void print_note(std::string_view text) { say("", text); }

void print_wrapped(std::string_view first, std::string_view rest, std::string_view text) {
  constexpr std::size_t kWidth = 96;
  std::istringstream words{std::string(text)};
  std::string_view indent = first;
  std::string line;
  const auto end_line = [&] {
    fmt::print("{}{}\n", indent, printable(line));
    indent = rest;
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) end_line();
}

}  // namespace nvmemu
