// SPDX-License-Identifier: Apache-2.0
// From the board to what the report says of memories: tiers, places, persists.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/share_error.h"
#include "base/units.h"
#include "report/board_figures.h"
#include "report/number_ranges.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

bool has_emulated(const RunReport& report) {
  return std::ranges::any_of(report.processes, &ProcessReport::emulated);
}

// after=: of which nothing is placed, but all that comes later is in it.
void warn_of_unfilled(const TierTally& tally, RunReport& report) {
  if (tally.filled.load() > 0 || !has_emulated(report)) return;
  for (const TierReport& tier : report.tiers) {
    if (tier.comes_after_bytes > 0)
      report.warnings.push_back(fmt::format("no process had {} of memory: nothing was in tier {}",
                                            format_size(tier.comes_after_bytes), tier.name));
  }
}

bool has_matched(const TierTally::Sums& sums, RuleKind kind) {
  return sums.kinds.has(static_cast<std::size_t>(kind));
}

// A rule that matches nothing may be misspelt, whatever others have put there.
void warn_of_unmatched(const TierTally::Sums& sums, const TierReport& tier, RunReport& report) {
  for (std::size_t i = 0; i < tier.files.size(); ++i) {
    if (!sums.files.has(i))
      report.warnings.push_back(
          fmt::format("nothing was ever mapped of {} (tier {})", tier.files[i], tier.name));
  }
  for (std::size_t i = 0; i < tier.callers.size(); ++i) {
    if (!sums.callers.has(i))
      report.warnings.push_back(
          fmt::format("no block was ever allocated by {} (tier {})", tier.callers[i], tier.name));
  }
  if (tier.least_block_bytes != 0 && !has_matched(sums, RuleKind::kBlocks))
    report.warnings.push_back(fmt::format("no block of {} and more was ever allocated (tier {})",
                                          format_size(tier.least_block_bytes), tier.name));
  if (tier.node != 0 && !has_matched(sums, RuleKind::kNode))
    report.warnings.push_back(fmt::format("nothing was ever put on node {} (tier {})", tier.node, tier.name));
}

// As far as walks tell: of the parts of what they have found, which are as many measurements.
std::optional<double> share_error_of(const TierReadings& found, std::size_t tier) {
  std::vector<double> shares;
  double own = 0, all = 0, readings = 0;
  for (std::size_t part = 0; part < TierReadings::kParts; ++part) {
    double whole = 0;
    for (const auto& waited : found.waited) whole += static_cast<double>(waited[part].load());
    if (whole <= 0) continue;
    const auto one = static_cast<double>(found.waited[tier][part].load());
    shares.push_back(one / whole);
    own += one;
    all += whole;
  }
  if (all <= 0) return std::nullopt;
  for (const auto& count : found.readings) readings += static_cast<double>(count.load());
  return share_error_95(shares, own / all, readings);
}

constexpr std::pair<double TierReport::*, StallKind> kStallsOfKinds[] = {
    {&TierReport::load_stall_ns, StallKind::kLoad},
    {&TierReport::locked_stall_ns, StallKind::kLocked},
    {&TierReport::store_stall_ns, StallKind::kStore},
    {&TierReport::fence_stall_ns, StallKind::kPersist}};

void read_tiers(const TierTally& tally, RunReport& report) {
  const auto cut = [](const std::atomic<std::uint64_t>& word, NumberRange range) {
    return std::min(range.most, static_cast<double>(word.load()));
  };
  for (std::size_t i = 0; i < std::min(report.tiers.size(), kMostTiers); ++i) {
    const TierTally::Sums& sums = tally.tiers[i];
    TierReport& tier = report.tiers[i];
    tier.stall_ns = 0;
    tier.read_bytes = cut(sums.read_bytes, kBytes);
    tier.written_bytes = cut(sums.written_bytes, kBytes);
    tier.placed_bytes = cut(sums.placed_bytes, kBytes);
    for (const auto& [member, kind] : kStallsOfKinds) {
      tier.*member = cut(sums.stall_ns[kind], kNanoseconds);
      tier.stall_ns += tier.*member;
    }
    tier.delay_ns = cut(sums.delay_ns, kNanoseconds);
    tier.readings = cut(tally.readings.readings[i], kReadings);
    tier.share_error_95 = share_error_of(tally.readings, i);
    if (!has_emulated(report)) continue;
    const bool is_filled = tier.has_the_rest || has_matched(sums, RuleKind::kNode);
    if (!is_filled && tier.placed_bytes <= 0) {
      report.warnings.push_back(fmt::format("nothing was ever put into tier {} ({})", tier.name, tier.rule));
    } else {
      warn_of_unmatched(sums, tier, report);
    }
  }
  warn_of_unfilled(tally, report);
  const std::uint64_t unplaced = tally.unplaced.load();
  if (unplaced > 0)
    report.warnings.push_back(fmt::format(
        "{} ranges of memory found no room in the map of tiers, and were left where they were", unplaced));
}

// Of what was waited for in all, each has its part.
void read_places(const PlaceTally& tally, RunReport& report) {
  constexpr std::size_t kTold = 20;
  double all = static_cast<double>(tally.elsewhere.load());
  report.places.clear();
  for (const PlaceTally::Place& place : tally.places) {
    if (place.state.load(std::memory_order_acquire) != PlaceTally::kThere) continue;
    const auto begin = static_cast<double>(place.begin.load()), end = static_cast<double>(place.end.load());
    const auto waited = static_cast<double>(place.waited.load());
    all += waited;
    report.places.push_back({.pid = place.pid,
                             .name = place.is_site != 0 ? "" : text_of(place.name),
                             .site = place.is_site != 0 ? text_of(place.name) : "",
                             .begin = std::min(kBytes.most, begin),
                             .bytes = std::clamp(end - begin, 0.0, kBytes.most),
                             .stall_ns = waited});
  }
  std::ranges::stable_sort(report.places, std::ranges::greater(), &PlaceReport::stall_ns);
  if (report.places.size() > kTold) report.places.resize(kTold);
  for (PlaceReport& place : report.places)
    place.stall_ns = all > 0 ? report.totals.stall_ns * (place.stall_ns / all) : 0;
}

void read_migrations(const TierTally& tally, MigrationReport& migrations) {
  migrations.promotions = std::min(tally.promotions.load(), kMostOnBoard);
  migrations.demotions = std::min(tally.demotions.load(), kMostOnBoard);
  migrations.bytes = std::min(kBytes.most, static_cast<double>(tally.moved_bytes.load()));
  migrations.delay_ns = std::min(kNanoseconds.most, static_cast<double>(tally.move_delay_ns.load()));
}

void read_persists(const TierTally& tally, PersistReport& persists) {
  constexpr double kMostNs = 1e18;
  persists.persists = std::min(tally.persists.load(), kMostOnBoard);
  persists.lines = std::min(tally.persisted_lines.load(), kMostOnBoard);
  persists.delay_ns = std::min(kMostNs, static_cast<double>(tally.persist_delay_ns.load()));
  persists.estimated_persists = std::min(tally.estimated_persists.load(), kMostOnBoard);
  persists.estimated_lines = std::min(tally.estimated_lines.load(), kMostOnBoard);
  persists.estimated_delay_ns = std::min(kMostNs, static_cast<double>(tally.estimated_delay_ns.load()));
  constexpr double kNsPerUs = 1000, k95Percent = 1.96;  // of a normal distribution, in standard errors
  persists.estimated_error_ns =
      std::min(kMostNs, static_cast<double>(tally.estimated_model_error_ns.load()) +
                            k95Percent * kNsPerUs *
                                std::sqrt(static_cast<double>(tally.estimated_variance_us2.load())));
}

}  // namespace

void read_memories(const Board& board, RunReport& report) {
  read_tiers(board.tiers(), report);
  read_migrations(board.tiers(), report.migrations);
  read_persists(board.tiers(), report.persists);
  read_places(board.places(), report);
}

}  // namespace nvmemu
