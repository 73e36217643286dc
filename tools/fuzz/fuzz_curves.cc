// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes: an error that says something, or curves that give a register a value that fits into it.
#include <string>

#include "fuzzing.h"
#include "throttle/controllers.h"
#include "throttle/curve.h"

using namespace nvmemu;
using namespace nvmemu::fuzzing;

namespace {

void check(std::string_view text) {
  check_round_trip(text, parse_curves);
  const auto curves = parse_curves(text);
  if (!curves) return;
  for (const Curve& curve : curves->nodes) {
    for (const double bps : {0.0, 1e6, 5e9, curve.highest_bps, curve.at(curve.linear_last)}) {
      const auto value = value_for(curve, bps);
      require(value ? *value >= 0 && *value <= kThrottleLimit : !value.error().message.empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  check(text);
  check("nvmemu-throttle-curve-1\n" + std::string(text));
  return 0;
}
