// SPDX-License-Identifier: Apache-2.0
#include "plan/migration_plan.h"

#include <algorithm>

#include "base/decimal.h"
#include "base/quote.h"
#include "base/text.h"
#include "base/units.h"
#include "plan/tier_rules.h"
#include "tier/migration_policy.h"

namespace nvmemu {
namespace {

Result<void> read_setting(MigrationPlan& plan, std::string_view text) {
  constexpr double kShortestNs = 10e6, kLongestNs = 60e9;
  const std::string_view whole = text;
  const std::string_view key = take_until(text, '=');
  if (key == "window") {
    const Result<double> window_ns = parse_duration_ns(text);
    if (!window_ns) return failure("window: " + window_ns.error().message, window_ns.error().hint);
    if (*window_ns < kShortestNs || *window_ns > kLongestNs)
      return failure("window: " + quote(text) + ": a window lasts 10 ms to 60 s", "1s suits most programs");
    plan.window_ns = *window_ns;
    return {};
  }
  if (key == "rate") {
    const Result<double> rate_bps = parse_bandwidth_bps(text);
    if (!rate_bps) return failure("rate: " + rate_bps.error().message, rate_bps.error().hint);
    plan.rate_bps = *rate_bps;
    return {};
  }
  return failure(quote(whole) + " is no setting of a policy", "they are window=1s and rate=1GB/s");
}

}  // namespace

Result<MigrationPlan> parse_migration(std::string_view text, const TierPlan& tiers) {
  MigrationPlan plan;
  plan.policy = take_until(text, ',');
  if (find_migration_policy(plan.policy) == nullptr)
    return failure(quote(plan.policy) + " is not one of none, hot, two-touch");
  while (!text.empty()) {
    if (const auto read = read_setting(plan, take_until(text, ',')); !read)
      return tl::unexpected(read.error());
  }
  if (!plan.empty() && limited_tier(tiers) == 0)
    return failure("no tier has DRAM of limited size beside it, between which memory could move",
                   "say how much DRAM there is: --tier far=2x,after=8GiB");
  return plan;
}

std::string format_migration(const MigrationPlan& plan) {
  return plan.policy + ",window=" + to_decimal(plan.window_ns) + "ns,rate=" + to_decimal(plan.rate_bps) +
         "B/s";
}

TierId limited_tier(const TierPlan& tiers) {
  const auto found =
      std::ranges::find_if(tiers.tiers, [](const TierSpec& tier) { return tier.after_bytes != 0; });
  return found == tiers.tiers.end() ? TierId{0} : static_cast<TierId>(found - tiers.tiers.begin() + 1);
}

double move_ns_per_byte(const BandwidthTarget& from, const BandwidthTarget& to) {
  constexpr double kOtherwiseBps = 10e9, kNsPerSecond = 1e9;
  double bps = kOtherwiseBps;
  if (from.read_bps > 0 && to.write_bps > 0) {
    bps = std::min(from.read_bps, to.write_bps);
  } else if (from.read_bps > 0 || to.write_bps > 0) {
    bps = std::max(from.read_bps, to.write_bps);
  }
  return kNsPerSecond / bps;
}

}  // namespace nvmemu
