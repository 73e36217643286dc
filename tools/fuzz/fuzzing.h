// SPDX-License-Identifier: Apache-2.0
// What the fuzzers share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/quote.h"
#include "base/result.h"

namespace nvmemu::fuzzing {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Something is said, and nothing that a terminal would act on.
inline void require_error(const Error& error) {
  require(!error.message.empty());
  require(printable_lines(error.message) == error.message);
  require(printable_lines(error.hint) == error.hint);
}

// Calls `each` with the texts between zeros, and the byte before each of them, which chooses something.
template <typename Each>
void for_each_choice(std::string_view input, const Each& each) {
  while (!input.empty()) {
    const std::string_view entry = input.substr(0, input.find('\0'));
    input.remove_prefix(std::min(input.size(), entry.size() + 1));
    if (!entry.empty()) each(static_cast<unsigned char>(entry[0]), entry.substr(1));
  }
}

// `whole`, which is in order, with lines of it replaced by what the input has: what it takes to be read in
// full would take long to guess.
inline std::string with_lines_of(std::string_view input, const std::string& whole) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = whole.find('\n', begin);
    lines.push_back(whole.substr(begin, end - begin));
    begin = end == std::string::npos ? whole.size() : end + 1;
  }
  for_each_choice(input, [&lines](std::size_t choice, std::string_view text) {
    std::string& line = lines[choice % lines.size()];
    const auto equals = line.find("= ");  // the value alone, every other time
    line = choice < 128 && equals != std::string::npos ? line.substr(0, equals + 2) + std::string(text)
                                                       : std::string(text);
  });
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// What is read can be written, and is read again as the same.
template <typename Parse>
void check_round_trip(std::string_view text, const Parse& parse) {
  const auto first = parse(text);
  if (!first) return require_error(first.error());
  const auto again = parse(serialize(*first));
  require(again.has_value() && serialize(*again) == serialize(*first));
}

}  // namespace nvmemu::fuzzing
