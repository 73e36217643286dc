// SPDX-License-Identifier: Apache-2.0
#include "tier_options.h"

#include <fmt/format.h>

#include <utility>

#include "base/quote.h"
#include "host/memory_nodes.h"
#include "plan/stored_tiers.h"
#include "plan/tier_checks.h"
#include "plan/tier_file.h"

namespace nvmemu {
namespace {

// `option`: what the errors begin with.
Result<void> check_tier(const std::string& option, const std::string& text, RunRequest& request) {
  if (const auto added = add_tier(request.config.tiers, text); !added)
    return in_option(option, added.error());
  TierSpec& tier = request.config.tiers.tiers.back();
  const MemoryNodes machine = read_memory_nodes();
  if (auto found = find_tier_files(tier); !found) return in_option(option, found.error());
  if (auto apart = check_tier_files(request.config.tiers, tier); !apart)
    return in_option(option, apart.error());
  if (auto checked = check_tier_node(tier, machine); !checked) return in_option(option, checked.error());
  for (std::string& warning : warnings_of_sizes(tier, machine))
    request.warnings.push_back(std::move(warning));
  return {};
}

// Who allocated what is waited for, as which tier it is in, is told by walks.
Result<void> need_walks(const RunOptions& options, const RunRequest& request, const std::string& asked,
                        const std::string& of) {
  if (request.config.source == SourceChoice::kPmu || request.config.source == SourceChoice::kReplay)
    return failure(fmt::format("--source: {} does not tell {} was waited for", quote(options.source), of),
                   "leave it away: samples and walks tell");
  if (options.no_walks) return only_walks_tell("--no-walks:", of + " is waited for", asked);
  return {};
}

}  // namespace

tl::unexpected<Error> only_walks_tell(const std::string& why, const std::string& what,
                                      const std::string& asked) {
  return failure(fmt::format("{} only walks tell {}", why, what), fmt::format("leave it or {} away", asked));
}

Result<void> check_tiers(const RunOptions& options, RunRequest& request) {
  for (const std::string& text : options.tiers) {
    if (auto checked = check_tier("--tier", text, request); !checked) return checked;
  }
  if (!options.tiers_file.empty()) {
    const auto tiers = read_tier_file(options.tiers_file);
    if (!tiers) return in_option("--tiers", tiers.error());
    for (const TierText& tier : *tiers) {
      if (auto checked = check_tier("--tiers: " + tier.where, tier.text, request); !checked) return checked;
    }
  }
  if (auto taken = take_option("policy", options.policy, request.config); !taken) return taken;
  if (auto added = add_stored_tiers(request.config); !added) return in_option("--storage", added.error());
  if (!request.config.tiers.empty()) return need_walks(options, request, "--tier", "which tier");
  if (!options.allocation_sites) return {};
  if (auto can = need_walks(options, request, "--allocation-sites", "whose memory"); !can) return can;
  request.config.source = SourceChoice::kSampler;
  return {};
}

Result<void> check_recorded_tiers(const RunOptions& options, RunRequest& request) {
  if (const auto checked = check_tiers(options, request); !checked) return checked;
  TierPlan& plan = request.config.tiers;
  for (TierSpec& tier : plan.tiers) {
    const bool has_more = tier.least_block_bytes != 0 || !tier.files.empty() || tier.after_bytes != 0 ||
                          plan.otherwise.has(plan.find(tier.name));
    if (tier.node == 0 || has_more)
      return failure("--tier: tier " + tier.name + ": a record takes node=NUMBER, and no other rule",
                     "leave the others away, and ask nvmemu predict for them; a node is to be known "
                     "before, for the program is shown it");
    tier.memory = {.read = tier.memory.read};  // which says how far away it is shown to be
  }
  return {};
}

Result<void> resolve_tiers(TierPlan& tiers, double base_ns) {
  for (TierSpec& tier : tiers.tiers) {
    const Result<double> target_ns = tier_target_ns(tier, base_ns);
    if (!target_ns) return in_option("--tier", target_ns.error());
    tier.memory.read = {.ns = *target_ns};
  }
  return {};
}

}  // namespace nvmemu
