// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace nvmemu {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Three rows of the table are enough: a swap of neighbours looks two rows back.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replaced});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(text.size(), candidate.size());
    const std::size_t allowed = std::max<std::size_t>(1, longer / 3);
    const std::size_t shorter = std::min(text.size(), candidate.size());
    if (shorter == 0 || longer - shorter > allowed) continue;
    const std::size_t found = distance(text, candidate);
    if (found <= allowed && found < smallest) {
      smallest = found;
      best = candidate;
    }
  }
  return best;
}

std::string hint_of_names(std::string_view text, std::span<const std::string_view> candidates) {
  const std::string_view nearest = nearest_name(text, candidates);
  if (!nearest.empty()) return "did you mean " + std::string(nearest) + "?";
  std::string all;
  for (const std::string_view name : candidates) all.append(all.empty() ? "one of " : ", ").append(name);
  return all;
}

}  // namespace nvmemu
