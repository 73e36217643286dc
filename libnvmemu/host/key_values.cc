// SPDX-License-Identifier: Apache-2.0
#include "host/key_values.h"

#include <algorithm>

#include "host/cpu_text.h"

namespace nvmemu {

KeyValues split_key_values(std::string_view text) {
  KeyValues lines;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      lines.malformed = line;
      return lines;
    }
    lines.pairs.push_back({trim(line.substr(0, equals)), trim(line.substr(equals + 1))});
  }
  return lines;
}

std::string quote_value(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return quoted + '"';
}

std::optional<std::string> unquote_value(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] == '\\' && ++i == text.size()) return std::nullopt;
    plain += text[i];
  }
  return plain;
}

}  // namespace nvmemu
