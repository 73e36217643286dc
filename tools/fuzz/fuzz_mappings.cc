// SPDX-License-Identifier: Apache-2.0
// Whatever /proc/self/maps says, in whatever pieces: the same devices.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "walk/mappings.h"

namespace {

using namespace nvmemu;

void require(bool holds) {
  if (!holds) std::abort();
}

DeviceMappings read_in_pieces(std::string_view text, std::size_t bytes) {
  DeviceMappings mappings;
  for (std::size_t at = 0; at < text.size(); at += bytes) mappings.add(text.substr(at, bytes));
  return mappings;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const DeviceMappings whole = read_in_pieces(text, text.size() + 1);
  const DeviceMappings pieces = read_in_pieces(text, std::size_t{data[0]} + 1);
  require(std::ranges::equal(whole.found(), pieces.found()));
  return 0;
}
