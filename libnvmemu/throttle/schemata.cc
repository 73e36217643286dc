// SPDX-License-Identifier: Apache-2.0
#include "throttle/schemata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/quote.h"
#include "base/text.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

template <typename Number>
bool whole_number(std::string_view text, Number& value) {
  text = trimmed(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

}  // namespace

Result<std::vector<DomainLimit>> parse_schemata(std::string_view text, std::string_view resource) {
  std::vector<DomainLimit> limits;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    const std::string_view whole = line;
    if (trimmed(take_until(line, ':')) != resource) continue;
    while (!line.empty()) {
      std::string_view amount = take_until(line, ';');
      const std::string_view domain = take_until(amount, '=');
      DomainLimit limit{};
      if (!whole_number(domain, limit.domain) || limit.domain < 0 || !whole_number(amount, limit.amount))
        return failure("a line of schemata is not as resctrl writes it: " + quote(whole));
      limits.push_back(limit);
    }
  }
  return limits;
}

std::string schemata_line(std::string_view resource, const std::vector<DomainLimit>& limits) {
  std::string line = fmt::format("{}:", resource);
  for (std::size_t i = 0; i < limits.size(); ++i)
    line += fmt::format("{}{}={}", i > 0 ? ";" : "", limits[i].domain, limits[i].amount);
  return line + "\n";
}

}  // namespace nvmemu
