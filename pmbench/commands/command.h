// SPDX-License-Identifier: Apache-2.0
// What the subcommands share: their options' forms, how they end, and where they say what.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nvmemu::pmbench {

enum ExitStatus : int { kSuccess = 0, kFailed = 1, kBadOption = 2 };

// On stderr; returns `status`.
int fail(const Error& error, ExitStatus status);

// To stdout, as far as a terminal may have it; whether it could be written.
ExitStatus print(std::string_view text);

// "a,b,c", each a part.
std::vector<std::string> parts_of(std::string_view list);

// Says on stderr what it will use, before it uses it, and, where that is a terminal, what it does now, in one
// line that changes.
class Announcer {
 public:
  explicit Announcer(bool quiet);
  ~Announcer() { clear(); }
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

  void say(std::string_view text);
  void show(std::string_view text);
  void clear();

 private:
  bool says_, shows_, is_shown_ = false;
};

// Whatever it throws, of memory or threads that there are not, is said on stderr, and returned as kFailed.
int guarded(const std::function<int()>& command);

}  // namespace nvmemu::pmbench
