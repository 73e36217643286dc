// SPDX-License-Identifier: Apache-2.0
#include "device/toml_file.h"

#include <cstddef>
#include <sstream>
#include <utility>

#include "base/nearest.h"
#include "base/quote.h"
#include "base/read_file.h"

namespace nvmemu {

Result<std::string> read_toml_file(const std::string& path) {
  constexpr std::size_t kLongestFile = std::size_t{64} * 1024;  // far above any
  return read_whole_file(path, kLongestFile);
}

Result<toml::table> parse_toml(std::string_view text, const std::string& path) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  return failure(toml_place(path, parsed.error().source()) + ": " +
                 std::string(parsed.error().description()));
}

std::string toml_place(const std::string& path, const toml::source_region& where) {
  return path + ":" + std::to_string(where.begin.line);
}

tl::unexpected<Error> unknown_toml_key(const std::string& path, const toml::key& key,
                                       std::span<const std::string_view> names) {
  return failure(toml_place(path, key.source()) + ": unknown key " + quote(key.str()),
                 hint_of_names(key.str(), names));
}

Result<std::string> toml_text(const std::string& path, const toml::key& key, const toml::node& value,
                              const std::string& example) {
  if (const auto* text = value.as_string()) return text->get();
  if (const auto* number = value.as_integer(); number != nullptr && example.front() != '"')
    return std::to_string(number->get());
  std::ostringstream type;
  type << value.type();
  return failure(
      toml_place(path, value.source()) + ": " + std::string(key.str()) +
          ": expected a text in quotes, found " +
          (value.is_integer() || value.is_floating_point() ? "a bare number" : "another type: " + type.str()),
      "write " + std::string(key.str()) + " = " + example);
}

}  // namespace nvmemu
