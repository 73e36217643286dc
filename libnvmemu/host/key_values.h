// SPDX-License-Identifier: Apache-2.0
// The form of what is kept in files: "key = value" lines, a subset of TOML. Thread-safe; not for signal
// handlers (it allocates).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvmemu {

struct KeyValue {
  std::string_view key, value;
};

struct KeyValues {
  std::vector<KeyValue> pairs;  // views into the text
  std::string_view malformed;   // the first line that is none, at which reading stopped; empty: all are
};

// Empty lines and comments left out.
KeyValues split_key_values(std::string_view text);

std::string quote_value(std::string_view text);
std::optional<std::string> unquote_value(std::string_view text);  // nothing where it is not quoted

}  // namespace nvmemu
