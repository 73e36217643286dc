// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_plan.h"

#include <algorithm>
#include <utility>

#include "base/decimal.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/text.h"
#include "device/profile_file.h"
#include "plan/tier_checks.h"
#include "plan/tier_file.h"
#include "plan/tier_rules.h"

namespace nvmemu {
namespace {

constexpr std::string_view kForm = "write NAME=PROFILE,RULE: nvm=optane-dcpmm,file=/mnt/pmem";
constexpr std::size_t kLongestName = 32;

bool is_name(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, is_allowed);
}

Result<void> check_name(const TierPlan& plan, std::string_view name) {
  if (!is_name(name))
    return failure("a tier's name is of 1 to 32 letters, digits, '-' and '_', and not " + quote(name),
                   std::string(kForm));
  if (plan.find(name) != 0) return wrong_tier(name, "there are two of that name");
  if (name == kMachinesOwnTier)
    return wrong_tier(name, "that is the machine's own memory", "take another name");
  if (plan.tiers.size() + 1 >= kMostTiers)
    return wrong_tier(
        name, "there can be no more than " + std::to_string(kMostTiers - 1) + " beside the machine's memory");
  return {};
}

Result<void> read_memory(TierSpec& tier, std::string_view text) {
  if (text.empty()) return wrong_tier(tier.name, "it is not said what memory it is", kForm);
  if (text.front() >= '0' && text.front() <= '9') {
    const Result<TargetLatency> latency = parse_target_latency(text);
    if (!latency) return wrong_tier(tier.name, latency.error().message, latency.error().hint);
    tier.memory.read = *latency;
    return {};
  }
  const Result<Profile> profile = find_profile(std::string(text));
  if (!profile) return wrong_tier(tier.name, profile.error().message, profile.error().hint);
  if (!profile->device.read_latency_ns)
    return wrong_tier(tier.name, "profile " + profile->name +
                                     " has no read latency, and of a tier nothing else is emulated");
  tier.profile = profile->name;
  tier.of_file = names_toml_file(text);
  tier.memory = memory_target_of(profile->device);
  return {};
}

Result<void> check_against_others(const TierPlan& plan, const TierSpec& tier) {
  for (const TierSpec& other : plan.tiers) {
    if (tier.least_block_bytes != 0 && tier.callers.empty() && other.callers.empty() &&
        tier.least_block_bytes == other.least_block_bytes)
      return wrong_tier(tier.name, "tier " + other.name + " has blocks of that size already");
    for (const std::string& caller : tier.callers) {
      const bool is_others = std::ranges::find(other.callers, caller) != other.callers.end();
      if (is_others && other.least_block_bytes <= tier.least_block_bytes)  // which goes first
        return wrong_tier(tier.name, "tier " + other.name + " has what " + caller + " allocates already");
    }
    if (tier.node != 0 && tier.node == other.node)
      return wrong_tier(tier.name,
                        "tier " + other.name + " is node " + std::to_string(tier.node) + " already");
  }
  return {};
}

Result<void> add_default(TierPlan& plan, const TierRules& rules) {
  const bool is_after = rules.tier.after_bytes != 0;
  if (!rules.rest && !rules.interleave && !is_after) return {};
  const auto id = static_cast<TierId>(plan.tiers.size() + 1);
  for (TierId other = 1; other < id; ++other) {
    if (plan.otherwise.has(other) || plan.tiers[other - 1U].after_bytes != 0)
      return wrong_tier(rules.tier.name,
                        "tier " + plan.tiers[other - 1U].name + " has the rest of the memory already");
  }
  if (is_after) return {};
  plan.otherwise = TierPattern::all_of(id);
  if (!rules.interleave) return {};
  plan.otherwise.count = 2;
  plan.otherwise.parts[0] = {.tier = 0, .pages = rules.interleave->first};
  plan.otherwise.parts[1] = {.tier = id, .pages = rules.interleave->second};
  if (rules.page_bytes != 0) plan.otherwise.page_bytes = rules.page_bytes;
  return {};
}

std::string format_tier(const TierPlan& plan, std::size_t index) {
  const TierSpec& tier = plan.tiers[index];
  std::string text = tier.name + "=" + format_target_latency(tier.memory.read);
  for (const MemoryField& field : memory_fields().subspan(1)) {
    const std::string value = field.write(tier.memory);
    if (!value.empty()) text += "," + std::string(field.key) + "=" + value;
  }
  for (const std::string& file : tier.files) text += ",file=" + file;
  for (const std::string& caller : tier.callers) text += ",caller=" + caller;
  if (tier.least_block_bytes != 0) text += ",malloc=" + std::to_string(tier.least_block_bytes) + "B";
  if (tier.after_bytes != 0) text += ",after=" + std::to_string(tier.after_bytes) + "B";
  if (tier.node != 0) text += ",node=" + std::to_string(tier.node);
  if (tier.node_bytes != 0) text += ",size=" + std::to_string(tier.node_bytes) + "B";
  const TierPattern& rest = plan.otherwise;
  if (!rest.has(static_cast<TierId>(index + 1))) return text;
  if (!rest.is_interleaved()) return text + ",rest";
  return text + ",interleave=" + std::to_string(rest.parts[0].pages) + ":" +
         std::to_string(rest.parts[1].pages) + ",granularity=" + std::to_string(rest.page_bytes) + "B";
}

Result<TierPlan> tiers_of_file(const std::string& path) {
  const auto tiers = read_tier_file(path);
  if (!tiers) return tl::unexpected(tiers.error());
  TierPlan plan;
  for (const TierText& tier : *tiers) {
    if (const auto added = add_tier(plan, tier.text); !added)
      return failure(tier.where + ": " + added.error().message, added.error().hint);
  }
  return plan;
}

}  // namespace

bool TierPlan::has_nodes() const {
  return std::ranges::any_of(tiers, [](const TierSpec& tier) { return tier.node != 0; });
}

bool TierPlan::limits_bandwidth() const {
  return std::ranges::any_of(tiers, [](const TierSpec& tier) { return tier.memory.bandwidth.limits(); });
}

bool TierPlan::has_blocks() const {
  return std::ranges::any_of(tiers, [](const TierSpec& tier) { return tier.least_block_bytes != 0; });
}

TierId TierPlan::find(std::string_view name) const {
  const auto found = std::ranges::find(tiers, name, &TierSpec::name);
  return found == tiers.end() ? TierId{0} : static_cast<TierId>(found - tiers.begin() + 1);
}

Result<void> add_tier(TierPlan& plan, std::string_view text) {
  if (text.find('=') == std::string_view::npos)
    return failure(quote(text) + " names no tier and its memory", std::string(kForm));
  TierSpec tier;
  tier.name = take_until(text, '=');
  if (auto checked = check_name(plan, tier.name); !checked) return checked;
  if (auto read = read_memory(tier, take_until(text, ',')); !read) return read;
  TierRules rules{tier};
  while (!text.empty()) {
    if (auto read = rules.read(take_until(text, ',')); !read) return read;
  }
  if (auto checked = rules.check(); !checked) return checked;
  if (!tier.callers.empty() && tier.least_block_bytes == 0) tier.least_block_bytes = kLeastBlockBytes;
  if (auto checked = check_tier_files(plan, tier); !checked) return checked;
  if (auto checked = check_against_others(plan, tier); !checked) return checked;
  if (auto added = add_default(plan, rules); !added) return added;
  plan.tiers.push_back(std::move(tier));
  return {};
}

Result<TierPlan> parse_tiers(std::string_view text) {
  if (text.ends_with(".toml") && text.find('=') == std::string_view::npos)
    return tiers_of_file(std::string(text));
  TierPlan plan;
  while (!text.empty()) {
    if (auto added = add_tier(plan, take_until(text, ';')); !added) return tl::unexpected(added.error());
  }
  return plan;
}

std::string format_tiers(const TierPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) text += (i == 0 ? "" : ";") + format_tier(plan, i);
  return text;
}

}  // namespace nvmemu
