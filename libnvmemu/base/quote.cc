// SPDX-License-Identifier: Apache-2.0
#include "base/quote.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nvmemu {
namespace {

constexpr std::uint32_t kFirstBeyondC1 = 0xa0;

// How many bytes the character takes that the text begins with, 0 where it is none that can be shown.
// Unicode 15, table 3-7 (well-formed UTF-8 byte sequences).
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 && first <= 0xf4  ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t code = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const std::uint32_t least = length == 2 ? kFirstBeyondC1 : length == 3 ? 0x800 : 0x10000;
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least || is_surrogate || code > 0x10ffff ? 0 : length;
}

}  // namespace

void make_printable(std::span<char> text, std::string_view kept) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest(text.data() + at, text.size() - at);
    const std::size_t bytes = kept.find(rest[0]) != std::string_view::npos ? 1 : shown_bytes(rest);
    if (bytes == 0) text[at] = '?';
    at += bytes == 0 ? 1 : bytes;
  }
}

std::string printable(std::string_view text) {
  std::string result(text);
  make_printable(result, "");
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result(text);
  make_printable(result, "\n\t");
  return result;
}

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::size_t end = std::min(text.size(), kLongest);
  while (end > 0 && end < text.size() && (text[end] & 0xc0) == 0x80) --end;  // not within a character
  std::string result = "'";
  result += printable(text.substr(0, end));
  return result += end < text.size() ? "...'" : "'";
}

}  // namespace nvmemu
