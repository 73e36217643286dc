// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says something, or a verdict that can be kept.
#include "counters/pmu/verdict.h"
#include "fuzzing.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = text_of(data, size);
  check_round_trip(input, parse_verdict);
  check_round_trip(with_lines_of(input, serialize(PmuVerdict{})), parse_verdict);
  return 0;
}
