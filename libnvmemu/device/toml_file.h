// SPDX-License-Identifier: Apache-2.0
// What files that users write in TOML have in common: how they are read, and what is said of what is wrong in
// them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/toml_parser.h"

namespace nvmemu {

// All of it, where it is no longer than any such file; "cannot read PATH: why".
Result<std::string> read_toml_file(const std::string& path);

// A syntax error begins with "FILE:LINE: ".
Result<toml::table> parse_toml(std::string_view text, const std::string& path);

// "FILE:LINE".
std::string toml_place(const std::string& path, const toml::source_region& where);

// "FILE:LINE: unknown key", and the nearest of those there are as a hint.
tl::unexpected<Error> unknown_toml_key(const std::string& path, const toml::key& key,
                                       std::span<const std::string_view> names);

// The value, which is a text; of keys whose `example` is a number, a whole number is one, too.
Result<std::string> toml_text(const std::string& path, const toml::key& key, const toml::node& value,
                              const std::string& example);

}  // namespace nvmemu
