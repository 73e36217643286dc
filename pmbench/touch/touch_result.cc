// SPDX-License-Identifier: Apache-2.0
#include "touch/touch_result.h"

#include <fmt/format.h>

namespace nvmemu::pmbench {

LatencyCounts TouchRun::undisturbed() const {
  LatencyCounts all;
  for (std::size_t i = 0; i < kTouchClasses; ++i) {
    if (static_cast<TouchClass>(i) != TouchClass::kPreempted) all.merge(classes[i]);
  }
  return all;
}

std::string name_of(const TouchCase& one) {
  return fmt::format("{}, THP {}", kTouchPatterns[static_cast<std::size_t>(one.pattern)].name,
                     one.huge_pages == HugePages::kOn ? "on" : "off");
}

}  // namespace nvmemu::pmbench
