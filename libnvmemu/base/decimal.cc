// SPDX-License-Identifier: Apache-2.0
#include "base/decimal.h"

#include <array>
#include <charconv>

namespace nvmemu {

std::optional<double> parse_decimal(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string to_decimal(double value) {
  std::array<char, 400> text{};  // of a double in fixed notation: up to 309 digits before the point
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

}  // namespace nvmemu
