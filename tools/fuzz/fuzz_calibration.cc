// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says something, or figures that can be reckoned with and kept.
#include "fuzzing.h"
#include "host/calibration.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

void check(std::string_view text) {
  check_round_trip(text, parse_calibration);
  if (const auto calibration = parse_calibration(text))
    require(calibration->base_latency_ns >= 0 && calibration->base_latency_ns <= 1e9);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(text_of(data, size));
  check(with_lines_of(text_of(data, size), serialize(Calibration{})));
  return 0;
}
