// SPDX-License-Identifier: Apache-2.0
// When a run started, in UTC, as ISO 8601 has it.
#pragma once

#include <ctime>
#include <optional>
#include <string>

namespace nvmemu::pmbench {

// "2026-01-31T12:34:56Z"; empty where the time is not known (day 0 of a month).
std::string time_text(const std::tm& time);

// The way back, with the days of the week and of the year; nothing where it is no such time.
std::optional<std::tm> parse_time(const std::string& text);

}  // namespace nvmemu::pmbench
