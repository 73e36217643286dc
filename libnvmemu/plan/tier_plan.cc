// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <utility>

#include "base/decimal.h"
#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr std::string_view kForm = "write NAME=PROFILE,RULE: nvm=optane-dcpmm,file=/mnt/pmem";
constexpr std::string_view kRules =
    "they are file=PATH, interleave=3:1, granularity=SIZE, rest, write-latency=LATENCY and "
    "persist-bandwidth=BANDWIDTH";
constexpr std::size_t kLongestName = 32;

// The part before the separator, which it leaves behind it.
std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

tl::unexpected<Error> wrong(std::string_view name, const std::string& what, std::string_view hint = {}) {
  return failure("tier " + printable(name) + ": " + what, std::string(hint));
}

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
  if (plan.find(name) != 0) return wrong(name, "there are two of that name");
  if (name == kMachinesOwnTier) return wrong(name, "that is the machine's own memory", "take another name");
  if (plan.tiers.size() + 1 >= kMostTiers)
    return wrong(
        name, "there can be no more than " + std::to_string(kMostTiers - 1) + " beside the machine's memory");
  return {};
}

Result<void> read_memory(TierSpec& tier, std::string_view text, FindProfile find_profile) {
  if (text.empty()) return wrong(tier.name, "it is not said what memory it is", kForm);
  if (text.front() >= '0' && text.front() <= '9') {
    const Result<TargetLatency> latency = parse_target_latency(text);
    if (!latency) return wrong(tier.name, latency.error().message, latency.error().hint);
    tier.latency = *latency;
    return {};
  }
  const Result<Profile> profile = find_profile(std::string(text));
  if (!profile) return wrong(tier.name, profile.error().message, profile.error().hint);
  if (!profile->device.read_latency_ns)
    return wrong(tier.name,
                 "profile " + profile->name + " has no read latency, and of a tier nothing else is emulated");
  tier.profile = profile->name;
  tier.latency.ns = *profile->device.read_latency_ns;
  tier.persists = persist_spec_of(profile->device);
  return {};
}

// "3:1"
std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_parts(std::string_view text) {
  constexpr std::uint32_t kMostParts = 1000;
  std::array<std::uint32_t, 2> parts{};
  for (std::uint32_t& part : parts) {
    const std::string_view number = take_until(text, ':');
    const char* const end = number.data() + number.size();
    const auto [parsed, error] = std::from_chars(number.data(), end, part);
    if (error != std::errc() || parsed != end || part == 0 || part > kMostParts) return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return std::pair(parts[0], parts[1]);
}

// One tier's rules while they are read.
struct Rules {
  TierSpec& tier;
  std::optional<DefaultTier> otherwise{};
  std::uintptr_t page_bytes = 0;  // 0: not given

  Result<void> take_rest(DefaultTier rest) {
    if (otherwise)
      return wrong(tier.name, "rest and interleave each say what the rest of the memory is", "give one");
    otherwise = rest;
    return {};
  }

  Result<void> read_file(std::string_view path) {
    if (path.empty() || path.front() != '/')
      return wrong(tier.name, "file= takes a path from the root, not " + quote(path));
    tier.files.emplace_back(path);
    return {};
  }

  Result<void> read_interleave(std::string_view text) {
    const auto parts = parse_parts(text);
    if (!parts)
      return wrong(tier.name, "interleave= takes two numbers from 1 to 1000, not " + quote(text),
                   "3:1 is three pages of the machine's memory, then one of this");
    return take_rest({.own_parts = parts->first, .parts = parts->second});
  }

  Result<void> read_granularity(std::string_view text) {
    constexpr std::uint64_t kLeast = 4096, kMost = std::uint64_t{1} << 40;
    const Result<std::uint64_t> bytes = parse_size_bytes(text);
    if (!bytes) return wrong(tier.name, bytes.error().message, bytes.error().hint);
    if (*bytes < kLeast || *bytes > kMost || !std::has_single_bit(*bytes))
      return wrong(tier.name, "granularity= takes a power of two from 4KiB to 1TiB, not " + quote(text));
    page_bytes = *bytes;
    return {};
  }

  Result<void> read_write_latency(std::string_view text) {
    const Result<TargetLatency> latency = parse_target_latency(text);
    if (!latency) return wrong(tier.name, "write-latency: " + latency.error().message, latency.error().hint);
    tier.persists.latency = *latency;
    return {};
  }

  Result<void> read_persist_bandwidth(std::string_view text) {
    const Result<double> bps = parse_bandwidth_bps(text);
    if (!bps) return wrong(tier.name, "persist-bandwidth: " + bps.error().message, bps.error().hint);
    tier.persists.bandwidth_bps = *bps;
    return {};
  }

  Result<void> read(std::string_view rule) {
    const std::string_view whole = rule;
    const std::string_view key = take_until(rule, '=');
    if (whole == "rest") return take_rest({});
    if (key == "file") return read_file(rule);
    if (key == "write-latency") return read_write_latency(rule);
    if (key == "persist-bandwidth") return read_persist_bandwidth(rule);
    if (key == "interleave") return read_interleave(rule);
    if (key == "granularity") return read_granularity(rule);
    return wrong(tier.name, "there is no rule " + quote(whole), kRules);
  }
};

Result<void> check_files(const TierPlan& plan, const TierSpec& tier) {
  for (const TierSpec& other : plan.tiers) {
    for (const std::string& path : other.files) {
      for (const std::string& file : tier.files) {
        if (is_at_or_below(path, file) || is_at_or_below(file, path))
          return wrong(tier.name, quote(file) + " and tier " + other.name + "'s " + quote(path) + " overlap",
                       "a file can be in one tier only");
      }
    }
  }
  return {};
}

Result<void> add_default(TierPlan& plan, const Rules& rules) {
  if (!rules.otherwise) {
    if (rules.page_bytes == 0) return {};
    return wrong(rules.tier.name, "granularity= goes with interleave=");
  }
  if (plan.otherwise.tier != 0)
    return wrong(rules.tier.name,
                 "tier " + plan.tiers[plan.otherwise.tier - 1U].name + " has the rest of the memory already");
  if (rules.page_bytes != 0 && rules.otherwise->own_parts == 0)
    return wrong(rules.tier.name, "granularity= goes with interleave=");
  plan.otherwise = *rules.otherwise;
  plan.otherwise.tier = static_cast<TierId>(plan.tiers.size() + 1);
  if (rules.page_bytes != 0) plan.otherwise.page_bytes = rules.page_bytes;
  return {};
}

std::string format_tier(const TierPlan& plan, std::size_t index) {
  const TierSpec& tier = plan.tiers[index];
  std::string text = tier.name + "=" + format_target_latency(tier.latency);
  if (!tier.persists.empty()) text += ",write-latency=" + format_target_latency(tier.persists.latency);
  if (tier.persists.bandwidth_bps > 0)
    text += ",persist-bandwidth=" + to_decimal(tier.persists.bandwidth_bps) + "B/s";
  for (const std::string& file : tier.files) text += ",file=" + file;
  const DefaultTier& rest = plan.otherwise;
  if (rest.tier != index + 1) return text;
  if (rest.own_parts == 0) return text + ",rest";
  return text + ",interleave=" + std::to_string(rest.own_parts) + ":" + std::to_string(rest.parts) +
         ",granularity=" + std::to_string(rest.page_bytes) + "B";
}

Result<Profile> find_built_in(const std::string& name) { return find_built_in_profile(name); }

}  // namespace

TierId TierPlan::find(std::string_view name) const {
  const auto found = std::ranges::find(tiers, name, &TierSpec::name);
  return found == tiers.end() ? TierId{0} : static_cast<TierId>(found - tiers.begin() + 1);
}

Result<void> add_tier(TierPlan& plan, std::string_view text, FindProfile find_profile) {
  if (text.find('=') == std::string_view::npos)
    return failure(quote(text) + " names no tier and its memory", std::string(kForm));
  TierSpec tier;
  tier.name = take_until(text, '=');
  if (auto checked = check_name(plan, tier.name); !checked) return checked;
  if (auto read = read_memory(tier, take_until(text, ','), find_profile); !read) return read;
  Rules rules{tier};
  while (!text.empty()) {
    if (auto read = rules.read(take_until(text, ',')); !read) return read;
  }
  if (auto checked = check_files(plan, tier); !checked) return checked;
  if (auto added = add_default(plan, rules); !added) return added;
  plan.tiers.push_back(std::move(tier));
  return {};
}

Result<TierPlan> parse_tiers(std::string_view text) {
  TierPlan plan;
  while (!text.empty()) {
    if (auto added = add_tier(plan, take_until(text, ';'), find_built_in); !added)
      return tl::unexpected(added.error());
  }
  return plan;
}

std::string format_tiers(const TierPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.tiers.size(); ++i) text += (i == 0 ? "" : ";") + format_tier(plan, i);
  return text;
}

}  // namespace nvmemu
