// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/quote.h"
#include "base/text.h"
#include "base/units.h"

namespace nvmemu {
namespace {

constexpr std::string_view kTierRules =
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

struct TierRule {
  std::string_view key;
  bool has_value;
  Result<void> (*read)(TierRules&, std::string_view);
};

constexpr TierRule kTable[] = {
    {"file", true, read_file},
    {"node", true, read_node},
    {"size", true, read_size},
    {"malloc", true, read_malloc},
    {"caller", true, read_caller},
    {"after", true, read_after},
    {"interleave", true, read_interleave},
    {"granularity", true, read_granularity},
    {"rest", false, read_rest},
};

}  // namespace

tl::unexpected<Error> wrong_tier(std::string_view name, const std::string& what, std::string_view hint) {
  return failure("tier " + printable(name) + ": " + what, std::string(hint));
}

Result<void> TierRules::read(std::string_view text) {
  const std::string_view whole = text;
  const bool has_value = text.find('=') != std::string_view::npos;
  const std::string_view key = take_until(text, '=');
  for (const TierRule& rule : kTable) {
    if (rule.key == key && rule.has_value == has_value) return rule.read(*this, text);
  }
  for (const MemoryField& field : memory_fields().subspan(1)) {
    if (field.key != key || !has_value) continue;
    const Result<void> read = field.read(text, tier.memory);
    return read ? read : wrong_value(*this, key, read.error());
  }
  return wrong_tier(tier.name, "there is no rule " + quote(whole), kTierRules);
}

Result<void> TierRules::check() const {
  if (int{rest} + int{interleave.has_value()} + int{tier.after_bytes != 0} > 1)
    return wrong_tier(tier.name, "rest, interleave= and after= each say what the rest of the memory is",
                      "give one");
  if (page_bytes != 0 && !interleave) return wrong_tier(tier.name, "granularity= goes with interleave=");
  const PersistSpec& persists = tier.memory.persists;
  if (persists.bandwidth_bps <= 0 && (persists.granularity_bytes > 0 || persists.queue_bytes > 0))
    return wrong_tier(tier.name, "write-granularity= and write-queue= go with persist-bandwidth=",
                      "it is at that bandwidth that blocks are written, and a queue is emptied");
  if (tier.node_bytes != 0 && tier.node == 0)
    return wrong_tier(tier.name, "size= goes with node=", "it is how large the node is shown to be");
  return {};
}

}  // namespace nvmemu
