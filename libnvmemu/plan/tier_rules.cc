// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/quote.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr std::string_view kRules =
    "they are file=PATH, node=NUMBER, size=SIZE, malloc=SIZE, caller=NAME, after=SIZE, interleave=3:1, "
    "granularity=SIZE, rest, read-bandwidth=BANDWIDTH, write-bandwidth=BANDWIDTH, write-latency=LATENCY, "
    "persist-bandwidth=BANDWIDTH, write-granularity=SIZE, write-queue=SIZE and persist=queue|sync|cache";
constexpr int kHighestNode = 63;  // of one word of a mask of nodes
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 50;

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

tl::unexpected<Error> wrong_value(const TierRules& rules, std::string_view key, const Error& error) {
  return wrong_tier(rules.tier.name, std::string(key) + ": " + error.message, error.hint);
}

Result<void> read_rest(TierRules& rules, std::string_view) {
  rules.rest = true;
  return {};
}

Result<void> read_file(TierRules& rules, std::string_view path) {
  if (path.empty() || path.front() != '/')
    return wrong_tier(rules.tier.name, "file= takes a path from the root, not " + quote(path));
  rules.tier.files.emplace_back(path);
  return {};
}

Result<void> read_node(TierRules& rules, std::string_view text) {
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, rules.tier.node);
  if (error != std::errc() || parsed != end || rules.tier.node < 1 || rules.tier.node > kHighestNode)
    return wrong_tier(rules.tier.name, "node= takes a number from 1 to 63, not " + quote(text),
                      "take the first that the machine has not: 1 where it has node 0 only");
  return {};
}

// From `least` to a PiB.
Result<void> read_bytes(const TierRules& rules, std::string_view key, std::string_view text,
                        std::uint64_t least, std::uint64_t& bytes) {
  const Result<std::uint64_t> read = parse_size_bytes(text);
  if (!read) return wrong_value(rules, key, read.error());
  if (*read < least || *read > kMostBytes)
    return wrong_tier(rules.tier.name,
                      std::string(key) + "= takes " + format_size(least) + " to 1024TiB, not " + quote(text));
  bytes = *read;
  return {};
}

Result<void> read_size(TierRules& rules, std::string_view text) {
  return read_bytes(rules, "size", text, kMiB, rules.tier.node_bytes);
}

Result<void> read_malloc(TierRules& rules, std::string_view text) {
  return read_bytes(rules, "malloc", text, kLeastBlockBytes, rules.tier.least_block_bytes);
}

Result<void> read_after(TierRules& rules, std::string_view text) {
  return read_bytes(rules, "after", text, kMiB, rules.tier.after_bytes);
}

Result<void> read_caller(TierRules& rules, std::string_view name) {
  if (name.empty()) return wrong_tier(rules.tier.name, "caller= takes the name of a function or library");
  rules.tier.callers.emplace_back(name);
  return {};
}

Result<void> read_interleave(TierRules& rules, std::string_view text) {
  rules.interleave = parse_parts(text);
  if (rules.interleave) return {};
  return wrong_tier(rules.tier.name, "interleave= takes two numbers from 1 to 1000, not " + quote(text),
                    "3:1 is three pages of the machine's memory, then one of this");
}

Result<void> read_granularity(TierRules& rules, std::string_view text) {
  constexpr std::uint64_t kLeast = 4096, kMost = std::uint64_t{1} << 40;
  const Result<std::uint64_t> bytes = parse_size_bytes(text);
  if (!bytes) return wrong_value(rules, "granularity", bytes.error());
  if (*bytes < kLeast || *bytes > kMost || !std::has_single_bit(*bytes))
    return wrong_tier(rules.tier.name,
                      "granularity= takes a power of two from 4KiB to 1TiB, not " + quote(text));
  rules.page_bytes = *bytes;
  return {};
}

Result<void> read_write_latency(TierRules& rules, std::string_view text) {
  const Result<TargetLatency> latency = parse_target_latency(text);
  if (!latency) return wrong_value(rules, "write-latency", latency.error());
  rules.tier.persists.latency = *latency;
  return {};
}

Result<void> read_rate(const TierRules& rules, std::string_view key, std::string_view text, double& bps) {
  const Result<double> read = parse_bandwidth_bps(text);
  if (!read) return wrong_value(rules, key, read.error());
  bps = *read;
  return {};
}

Result<void> read_persist_bandwidth(TierRules& rules, std::string_view text) {
  return read_rate(rules, "persist-bandwidth", text, rules.tier.persists.bandwidth_bps);
}
Result<void> read_write_granularity(TierRules& rules, std::string_view text) {
  const Result<double> bytes = parse_write_granularity(text);
  if (!bytes) return wrong_value(rules, "write-granularity", bytes.error());
  rules.tier.persists.granularity_bytes = *bytes;
  return {};
}
Result<void> read_write_queue(TierRules& rules, std::string_view text) {
  const Result<double> bytes = parse_write_queue(text);
  if (!bytes) return wrong_value(rules, "write-queue", bytes.error());
  rules.tier.persists.queue_bytes = *bytes;
  return {};
}
Result<void> read_persist(TierRules& rules, std::string_view text) {
  const auto domain = find_persist_domain(text);
  if (!domain) return wrong_tier(rules.tier.name, "persist= takes queue, sync or cache, not " + quote(text));
  rules.tier.persists.domain = *domain;
  return {};
}
Result<void> read_read_bandwidth(TierRules& rules, std::string_view text) {
  return read_rate(rules, "read-bandwidth", text, rules.tier.bandwidth.read_bps);
}
Result<void> read_write_bandwidth(TierRules& rules, std::string_view text) {
  return read_rate(rules, "write-bandwidth", text, rules.tier.bandwidth.write_bps);
}

struct Rule {
  std::string_view key;
  bool has_value;
  Result<void> (*read)(TierRules&, std::string_view);
};

constexpr Rule kTable[] = {
    {"file", true, read_file},
    {"node", true, read_node},
    {"size", true, read_size},
    {"malloc", true, read_malloc},
    {"caller", true, read_caller},
    {"after", true, read_after},
    {"interleave", true, read_interleave},
    {"granularity", true, read_granularity},
    {"rest", false, read_rest},
    {"write-latency", true, read_write_latency},
    {"persist-bandwidth", true, read_persist_bandwidth},
    {"write-granularity", true, read_write_granularity},
    {"write-queue", true, read_write_queue},
    {"persist", true, read_persist},
    {"read-bandwidth", true, read_read_bandwidth},
    {"write-bandwidth", true, read_write_bandwidth},
};

}  // namespace

std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

tl::unexpected<Error> wrong_tier(std::string_view name, const std::string& what, std::string_view hint) {
  return failure("tier " + printable(name) + ": " + what, std::string(hint));
}

Result<void> TierRules::read(std::string_view text) {
  const std::string_view whole = text;
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string_view key = take_until(text, '=');
  for (const Rule& rule : kTable) {
    if (rule.key == key && rule.has_value == has_value) return rule.read(*this, text);
  }
  return wrong_tier(tier.name, "there is no rule " + quote(whole), kRules);
}

Result<void> TierRules::check() const {
  if (int{rest} + int{interleave.has_value()} + int{tier.after_bytes != 0} > 1)
    return wrong_tier(tier.name, "rest, interleave= and after= each say what the rest of the memory is",
                      "give one");
  if (page_bytes != 0 && !interleave) return wrong_tier(tier.name, "granularity= goes with interleave=");
  if (tier.node_bytes != 0 && tier.node == 0)
    return wrong_tier(tier.name, "size= goes with node=", "it is how large the node is shown to be");
  return {};
}

}  // namespace nvmemu
