// SPDX-License-Identifier: Apache-2.0
#include "report/asked_persists.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace nvmemu {

void say_asked_persists(const PersistSpec& everywhere, const TierPlan& tiers, double own_ns,
                        RunReport& report) {
  const bool is_of_a_tier =
      std::ranges::any_of(tiers.tiers, [](const TierSpec& tier) { return !tier.memory.persists.empty(); });
  report.persists.is_emulated = !everywhere.empty() || is_of_a_tier;
  report.persists.native_ns = own_ns;
  if (!everywhere.latency.empty()) report.target.write_latency_ns = everywhere.latency.over(own_ns);
}

std::optional<std::string> warning_of_persists(const PersistSpec& persists, const std::string& whose,
                                               double own_ns) {
  if (persists.latency.empty()) return std::nullopt;
  const double target_ns = persists.latency.over(own_ns);
  if (own_ns > 0 && target_ns > own_ns) return std::nullopt;
  return own_ns > 0
             ? fmt::format(
                   "{}: a persist of {} is no longer than this machine's own, {}: single ones are not slowed "
                   "(2x would be twice its own)",
                   whose, format_latency(target_ns), format_latency(own_ns))
             : fmt::format("{}: what a persist takes here is not known (nvmemu calibrate)", whose);
}

}  // namespace nvmemu
