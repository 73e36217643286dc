// SPDX-License-Identifier: Apache-2.0
#include "base/quote.h"

#include <cstddef>

namespace nvmemu {

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return result + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace nvmemu
