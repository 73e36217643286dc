// SPDX-License-Identifier: Apache-2.0
#include "output/time_text.h"

#include <fmt/format.h>

#include <cstdio>

namespace nvmemu::pmbench {

std::string time_text(const std::tm& time) {
  if (time.tm_mday == 0) return "";
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", time.tm_year + 1900, time.tm_mon + 1,
                     time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec);
}

std::optional<std::tm> parse_time(const std::string& text) {
  std::tm parsed{};
  const int found = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%2dZ", &parsed.tm_year, &parsed.tm_mon,
                                &parsed.tm_mday, &parsed.tm_hour, &parsed.tm_min, &parsed.tm_sec);
  if (found != 6) return std::nullopt;
  parsed.tm_year -= 1900;
  parsed.tm_mon -= 1;
  const std::time_t seconds = timegm(&parsed);
  std::tm time{};
  // What is written otherwise again was no date, as 30 February is not.
  if (gmtime_r(&seconds, &time) == nullptr || time_text(time) != text) return std::nullopt;
  return time;
}

}  // namespace nvmemu::pmbench
