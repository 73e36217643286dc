// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that names a line, or pages that are all in the set.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pattern/trace.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kPages = 1000;
  const auto trace = nvmemu::pmbench::parse_trace({reinterpret_cast<const char*>(data), size}, kPages);
  if (!trace) {
    require(trace.error().message[0] >= '1' && trace.error().message[0] <= '9');
    return 0;
  }
  require(trace->size() <= size);
  for (const std::uint64_t page : *trace) require(page < kPages);
  return 0;
}
