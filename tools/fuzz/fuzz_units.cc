// SPDX-License-Identifier: Apache-2.0
// Whatever the text: a quantity within its range, or an error that quotes it; and what is formatted is never
// empty.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/units.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename T>
void check(const nvmemu::Result<T>& result, T lowest, T highest) {
  if (result) {
    require(*result >= lowest && *result <= highest);
  } else {
    require(result.error().message.starts_with("'"));
    require(result.error().message.find("': ") != std::string::npos);
  }
}

void check_formats(const std::uint8_t* data, std::size_t size) {
  std::uint64_t bits = 0;
  if (size < sizeof bits) return;
  std::memcpy(&bits, data, sizeof bits);
  double number = 0;
  std::memcpy(&number, &bits, sizeof number);
  require(nvmemu::format_latency(number).size() >= 3);
  require(nvmemu::format_duration(number).size() >= 3);
  require(nvmemu::format_bandwidth(number).size() >= 5);
  require(nvmemu::format_size(bits).size() >= 3);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(nvmemu::parse_latency_ns(text), 1.0, 1e9);
  check(nvmemu::parse_duration_ns(text), 1e3, 3600e9);
  check(nvmemu::parse_bandwidth_bps(text), 1e6, 100e12);
  check(nvmemu::parse_size_bytes(text), std::uint64_t{1}, std::uint64_t{1} << 60);
  check_formats(data, size);
  return 0;
}
