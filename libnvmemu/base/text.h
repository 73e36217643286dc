// SPDX-License-Identifier: Apache-2.0
// Pieces of text. Thread-safe; async-signal-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace nvmemu {

// Without blanks and line ends at either side.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// What is before the first `mark`, which is taken from `text` with it; where there is none, all.
inline std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

}  // namespace nvmemu
