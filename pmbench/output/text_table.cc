// SPDX-License-Identifier: Apache-2.0
#include "output/text_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quote.h"

namespace nvmemu::pmbench {

std::string text_table(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace nvmemu::pmbench
