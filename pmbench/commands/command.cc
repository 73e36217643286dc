// SPDX-License-Identifier: Apache-2.0
#include "commands/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <sstream>

#include "base/quote.h"
#include "output/error_text.h"

namespace nvmemu::pmbench {

int fail(const Error& error, ExitStatus status) {
  std::fputs(error_text(error).c_str(), stderr);
  return status;
}

ExitStatus print(std::string_view text) {
  std::fputs(printable_lines(text).c_str(), stdout);
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 ? kSuccess : kFailed;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  std::istringstream words{std::string(list)};
  for (std::string part; std::getline(words, part, ',');) parts.push_back(part);
  return parts;
}

Announcer::Announcer(bool quiet) : says_(!quiet), shows_(!quiet && isatty(STDERR_FILENO) != 0) {}

void Announcer::say(std::string_view text) {
  if (!says_) return;
  clear();
  std::fputs(fmt::format("pmbench: {}\n", text).c_str(), stderr);
}

void Announcer::show(std::string_view text) {
  if (!shows_) return;
  std::fputs(fmt::format("\r\033[Kpmbench: {}", printable(text)).c_str(), stderr);
  is_shown_ = true;
}

void Announcer::clear() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
  is_shown_ = false;
}

int guarded(const std::function<int()>& command) {
  try {
    return command();
  } catch (const std::exception& error) {
    return fail({error.what(), {}}, kFailed);
  }
}

}  // namespace nvmemu::pmbench
