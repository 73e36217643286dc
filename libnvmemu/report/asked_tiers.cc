// SPDX-License-Identifier: Apache-2.0
#include "report/asked_tiers.h"

#include <fmt/format.h>

#include "base/units.h"

namespace nvmemu {
namespace {

std::string describe_rules(const TierSpec& tier, TierId id, const TierPattern& rest) {
  std::vector<std::string> rules;
  if (tier.node != 0) rules.push_back(fmt::format("node {}", tier.node));
  for (const std::string& file : tier.files) rules.push_back("file " + file);
  if (tier.least_block_bytes != 0)
    rules.push_back(fmt::format("blocks of {} and more{}{}", format_size(tier.least_block_bytes),
                                tier.callers.empty() ? "" : " by ", fmt::join(tier.callers, ", ")));
  if (tier.after_bytes != 0)
    rules.push_back(fmt::format("after {} of other memory", format_size(tier.after_bytes)));
  if (rest.has(id) && !rest.is_interleaved()) rules.emplace_back("the rest");
  if (rest.has(id) && rest.is_interleaved())
    rules.push_back(fmt::format("of every {} pages of {}, {}", rest.pages_in_turn(),
                                format_size(rest.page_bytes), rest.parts[1].pages));
  return rules.empty() ? "what the program places" : fmt::format("{}", fmt::join(rules, "; "));
}

}  // namespace

std::vector<TierReport> report_of_tiers(const TierPlan& plan, const std::string& profile, double target_ns) {
  if (plan.empty()) return {};
  std::vector<TierReport> tiers{{.name = std::string(kMachinesOwnTier),
                                 .profile = profile,
                                 .read_latency_ns = target_ns,
                                 .rule = "what is in no other",
                                 .has_the_rest = true}};
  for (const TierSpec& tier : plan.tiers) {
    const auto id = static_cast<TierId>(tiers.size());
    tiers.push_back({.name = tier.name,
                     .profile = tier.profile,
                     .read_latency_ns = tier.memory.read.ns,
                     .rule = describe_rules(tier, id, plan.otherwise),
                     .comes_after_bytes = tier.after_bytes,
                     .has_the_rest = plan.otherwise.has(id) || tier.after_bytes != 0,
                     .files = tier.of_storage ? std::vector<std::string>() : tier.files,
                     .callers = tier.callers,
                     .least_block_bytes = tier.callers.empty() ? tier.least_block_bytes : 0,
                     .node = tier.node});
  }
  return tiers;
}

}  // namespace nvmemu
