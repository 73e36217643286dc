// SPDX-License-Identifier: Apache-2.0
#include "report/progress_log.h"

#include <algorithm>
#include <charconv>

namespace nvmemu {

std::optional<double> first_number(std::string_view text) {
  const std::size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto parsed = std::from_chars(text.data() + digit, text.data() + text.size(), value);
  if (parsed.ec != std::errc() || value > kMostProgress) return std::nullopt;
  return value;
}

void ProgressLog::see(std::uint64_t ns, double value) {
  if (changes_.empty()) {
    changes_.push_back({ns, 0});
  } else if (value > last_value_) {
    changes_.push_back({ns, changes_.back().done + value - last_value_});
  }
  last_value_ = value;
}

double ProgressLog::done_at(std::uint64_t ns) const {
  const auto after =
      std::ranges::upper_bound(changes_, ns, {}, [](const Change& change) { return change.ns; });
  if (after == changes_.begin()) return 0;
  const Change& before = *std::prev(after);
  if (after == changes_.end()) return before.done;
  const double part = static_cast<double>(ns - before.ns) / static_cast<double>(after->ns - before.ns);
  return before.done + part * (after->done - before.done);
}

void take_progress_from(const ProgressLog& log, std::uint64_t start_ns, AlternationReport& alternation) {
  const auto done_at = [&](double seconds) {
    return log.done_at(start_ns + static_cast<std::uint64_t>(seconds * 1e9 + 0.5));
  };
  for (WindowReport& window : alternation.windows)
    window.progress = done_at(window.begin_seconds + window.seconds) - done_at(window.begin_seconds);
  alternation.slowdown = slowdown_of(alternation.windows);
}

}  // namespace nvmemu
