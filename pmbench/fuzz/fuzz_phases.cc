// SPDX-License-Identifier: Apache-2.0
// Whatever the text: an error that says something, or at least one phase, each with a pattern and a time.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/quote.h"
#include "run/command_line.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto phases = nvmemu::pmbench::parse_phases({reinterpret_cast<const char*>(data), size}, {});
  if (!phases) {
    require(!phases.error().message.empty());
    require(nvmemu::printable_lines(phases.error().message) == phases.error().message);
    return 0;
  }
  require(!phases->empty());
  for (const auto& phase : *phases) {
    require(!phase.pattern.empty());
    require(std::isfinite(phase.seconds) && phase.seconds > 0);
    require(std::isfinite(phase.shape));
  }
  return 0;
}
