// SPDX-License-Identifier: Apache-2.0
// A short name for a long text: of files that are kept per machine, and to notice that a text was changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nvmemu {

// FNV-1a, 64 bits, as 16 hexadecimal digits: the same in every build, unlike std::hash. Not against malice.
inline std::string hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kDigits[(hash >> shift) & 0xf];
  return digits;
}

}  // namespace nvmemu
