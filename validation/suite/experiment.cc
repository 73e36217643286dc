// SPDX-License-Identifier: Apache-2.0
#include "suite/experiment.h"

#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/quote.h"

namespace nvmemu::suite {
namespace {

constexpr auto kNames = std::to_array<TruthName>({
    {Truth::kNuma, "numa", "the same program, native, on another node's memory"},
    {Truth::kClosedForm, "closed-form", "native time + the loads of its critical path x (target - base)"},
    {Truth::kPerAccess, "per-access", "native time + counted accesses to memory x (target - base)"},
    {Truth::kCacheTier, "cache-tier", "the same program, native, on a set in memory, not in a cache"},
    {Truth::kTiers, "tiers", "native time + what the loads of the slower tier take longer, or as cache-tier"},
    {Truth::kWrites, "writes",
     "rounds x the longer of persist and work, or + what stores' lines take longer"},
});

}  // namespace

const std::span<const TruthName> kTruths(kNames);

std::string_view name_of(Truth truth) { return std::ranges::find(kNames, truth, &TruthName::truth)->name; }

Result<std::vector<Truth>> parse_truths(const std::string& list) {
  std::vector<Truth> truths;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string word = list.substr(begin, end - begin);
    const auto found = std::ranges::find(kNames, word, &TruthName::name);
    if (found == kNames.end())
      return failure(quote(word) + " is not a truth",
                     "they are numa, closed-form, per-access, cache-tier, tiers, writes");
    truths.push_back(found->truth);
    begin = end + 1;
  }
  return truths;
}

std::vector<std::string> words_of(std::string_view text, std::string_view size) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    words.emplace_back(word == "SIZE" ? size : word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace nvmemu::suite
