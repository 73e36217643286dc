// SPDX-License-Identifier: Apache-2.0
// Words that one process tells another, each with a zero behind it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nvmemu {

// Those that are there as a whole.
inline std::vector<std::string> words_of_messages(std::string_view messages) {
  std::vector<std::string> words;
  for (std::size_t at = 0, end = 0; (end = messages.find('\0', at)) != std::string_view::npos; at = end + 1)
    words.emplace_back(messages.substr(at, end - at));
  return words;
}

}  // namespace nvmemu
