// SPDX-License-Identifier: Apache-2.0
// What the sampler does beyond reading what loads wait for. Each rule can be switched off, to measure what it
// buys (validation/ablation, docs/ablation.md): one that buys nothing is deleted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nvmemu {

enum class Rule : std::uint8_t {
  kLateTicks,   // ticks that come late, or soon after a delay, are not walked
  kLongWalks,   // where a set may be small, walks go far, and their second half counts
  kForgetting,  // verdicts rest on the last walks
  kStreams,     // what misses of lines that are mostly prefetched is the walk's slowness, and not waited for
  kHidden,      // what is hidden of misses is added, by a model of the core
  kLoaded,      // misses that are waited for together take longer than one alone, as memory has more to do
  kDisplaced,   // what samples push out of the caches and page tables, and the program waits for, is no stall
  kOwnMisses,   // what a walk has fetched is charged, as the program finds it in the caches,
  kSpared,      // as far as it does not wait for it again
  kStores,      // stores whose lines come from memory are charged, and fences behind them
  kRevisits,    // delays touch what the program missed lately
  kInterrupted,  // samples at a load, behind what cannot wait, are the load's
  kFused,        // those behind a conditional jump are the compare's that is one with it
  kKeptBack,     // what a load has held up is charged when walks have told of it
  kTogether,     // misses of two tiers that are waited for together are told apart as walks found them
  kEffort,       // where little is added to a load, less is measured
  kCount,
};
inline constexpr std::size_t kRules = static_cast<std::size_t>(Rule::kCount);

inline constexpr std::array<std::string_view, kRules> kRuleNames = {
    "late-ticks", "long-walks", "forgetting", "streams",     "hidden", "loaded",    "displaced", "own-misses",
    "spared",     "stores",     "revisits",   "interrupted", "fused",  "kept-back", "together",  "effort"};

// All of them, less those that are switched off.
class Rules {
 public:
  constexpr bool has(Rule rule) const noexcept { return (off_ >> static_cast<unsigned>(rule) & 1U) == 0; }
  constexpr void switch_off(Rule rule) noexcept { off_ |= 1U << static_cast<unsigned>(rule); }
  constexpr bool operator==(const Rules&) const noexcept = default;

 private:
  std::uint32_t off_ = 0;
};

constexpr std::optional<Rule> find_rule(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kRules; ++i) {
    if (kRuleNames[i] == name) return static_cast<Rule>(i);
  }
  return std::nullopt;
}

}  // namespace nvmemu
