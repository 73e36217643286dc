// SPDX-License-Identifier: Apache-2.0
#include "placed_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/units.h"
#include "model/prediction.h"
#include "plan/target_latency.h"
#include "plan/tier_checks.h"
#include "plan/tier_plan.h"
#include "run_options.h"

namespace nvmemu {
namespace {

Result<std::vector<double>> dram_sizes_of(const PredictOptions& options) {
  std::vector<double> sizes;
  for (const std::string& text : options.dram_sizes) {
    const Result<std::uint64_t> bytes = parse_size_bytes(text);
    if (!bytes) return in_option("--dram", bytes.error());
    sizes.push_back(static_cast<double>(*bytes));
  }
  return sizes;
}

// As /proc/PID/maps has it; as it is given where it is not there any more, or was another machine's.
std::string as_mapped(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// Which memory it is, without what lies there.
Result<PlacedTarget> target_of(const TierSpec& tier, double base_ns) {
  const Result<double> latency_ns = tier_target_ns(tier, base_ns);
  if (!latency_ns) return in_option("--tier", latency_ns.error());
  PlacedTarget target;
  target.tier = tier.name;
  target.memory = tier.memory.read.multiple > 0 ? format_target_latency(tier.memory.read) : tier.profile;
  target.latency_ns = *latency_ns;
  return target;
}

// Whether it has a rule: `target` is placed by that then.
bool place_by_rule(const TierPlan& plan, PlacedTarget& target) {
  const TierSpec& tier = plan.tiers.front();
  const TierPattern& rest = plan.otherwise;
  if (!tier.files.empty()) {
    target.by = PlacedBy::kFiles;
    std::ranges::transform(tier.files, std::back_inserter(target.files), as_mapped);
  } else if (tier.least_block_bytes != 0) {
    target.by = PlacedBy::kBlocks;
    target.owner = {.least_block_bytes = tier.least_block_bytes, .callers = tier.callers};
  } else if (tier.node != 0) {
    target.by = PlacedBy::kNode;
    target.owner = {.node = static_cast<std::uint32_t>(tier.node)};
  } else if (rest.has(1) && rest.is_interleaved()) {
    target.by = PlacedBy::kInterleave;
    target.slow_part = static_cast<double>(rest.parts[1].pages) / rest.pages_in_turn();
    target.interleave = fmt::format("{}:{}", rest.parts[0].pages, rest.parts[1].pages);
  } else if (tier.after_bytes != 0) {
    target.by = PlacedBy::kFirstTouch;
    target.dram_bytes = static_cast<double>(tier.after_bytes);
  } else {
    return rest.has(1);
  }
  return true;
}

// Of one --tier: a row for its rule, or two for each size.
Result<void> add_placed(const TierPlan& plan, double base_ns, const std::vector<double>& sizes,
                        std::vector<PlacedTarget>& targets) {
  const TierSpec& tier = plan.tiers.front();
  const std::string who = "tier " + tier.name;
  const int rules = int{!tier.files.empty()} + int{plan.otherwise.has(1)} + int{tier.after_bytes != 0} +
                    int{tier.least_block_bytes != 0} + int{tier.node != 0};
  if (rules > 1)
    return failure("--tier: " + who + ": one rule at a time can be predicted",
                   "ask for each of them by a --tier of its own");
  Result<PlacedTarget> target = target_of(tier, base_ns);
  if (!target) return tl::unexpected(target.error());
  if (place_by_rule(plan, *target)) {
    targets.push_back(*std::move(target));
    return {};
  }
  if (sizes.empty())
    return failure("--tier: " + who + ": it is not said what lies there",
                   "add --dram SIZE,...: how much of the machine's memory is beside it; or a rule: rest, "
                   "interleave=3:1, after=SIZE, file=PATH, malloc=SIZE, caller=NAME, node=NUMBER");
  for (const double bytes : sizes) {
    target->dram_bytes = bytes;
    for (const PlacedBy by : {PlacedBy::kHeat, PlacedBy::kFirstTouch}) {
      target->by = by;
      targets.push_back(*target);
    }
  }
  return {};
}

Result<void> check_owner(const std::string& file, const Predicted& predicted, const PlacedTarget& target) {
  const RecordInfo& info = predicted.record.info;
  const std::string who = "--tier: tier " + target.tier + ": ";
  if (target.by == PlacedBy::kBlocks && !info.tells_blocks)
    return failure(who + file + " does not tell who allocated what was waited for",
                   "record it again with --allocation-sites");
  if (target.by == PlacedBy::kNode && (info.nodes >> target.owner.node & 1) == 0)
    return failure(fmt::format("{}{} does not tell of node {}, for the program was not shown one", who, file,
                               target.owner.node),
                   fmt::format("record it again with --tier {}=MEMORY,node={}: what a program puts on a node "
                               "shows only where there is one",
                               target.tier, target.owner.node));
  const OwnerRule of_any_size{.least_block_bytes = 1, .callers = target.owner.callers};
  if (target.owner.callers.empty() || predicted.owners.knows(of_any_size)) return {};
  return failure(
      who + "no block that " + target.owner.callers.front() + " allocated was waited for in " + file,
      "functions go by the names that the dynamic linker knows: link the program with -rdynamic");
}

}  // namespace

Result<std::vector<PlacedTarget>> placed_targets_of(const PredictOptions& options, double base_ns) {
  const auto sizes = dram_sizes_of(options);
  if (!sizes) return tl::unexpected(sizes.error());
  if (!sizes->empty() && options.tiers.empty())
    return failure("--dram: it is not said what memory is beside it", "add --tier far=2x, or far=cxl-dram");
  std::vector<PlacedTarget> targets;
  for (const std::string& text : options.tiers) {
    TierPlan plan;
    if (const auto added = add_tier(plan, text); !added) return in_option("--tier", added.error());
    if (const auto added = add_placed(plan, base_ns, *sizes, targets); !added)
      return tl::unexpected(added.error());
  }
  return targets;
}

Result<void> check_known_places(const PredictOptions& options, const Predicted& predicted) {
  const PlacedMemory& memory = predicted.memory;
  const bool asks = std::ranges::any_of(predicted.placed, [](const PlacedTarget& target) {
    return target.by != PlacedBy::kInterleave && target.by != PlacedBy::kNothing;
  });
  if (!asks) return {};
  const auto unknown = [&](const std::string& why, const std::string& mend) {
    return failure(options.file + " does not tell which memory was waited for: " + why, mend);
  };
  if (!predicted.record.keeps_regions)
    return unknown("it was made by a version that did not note it", "record it again");
  if (memory.misses() <= 0 && totals_of(predicted.record).stall_ns > 0) {
    if (predicted.record.info.counts != kSamplerCounts)
      return unknown("hardware counters do not know", "record it again with --source sampler");
    return unknown("no walk came upon a load from memory",
                   "record a longer run, on a machine where 'nvmemu info' says that code is walked");
  }
  for (const PlacedTarget& target : predicted.placed) {
    if (target.by == PlacedBy::kFiles && memory.misses() > 0 && !memory.knows_files(target.files))
      return failure(
          "--tier: tier " + target.tier + ": no memory of " + target.files.front() + " was seen in " +
              options.file,
          "name a file, or a folder that it is in, as nvmemu predict shows it for " + options.file);
    if (const auto known = check_owner(options.file, predicted, target); !known) return known;
  }
  return {};
}

SlowShare slow_share_of(const PlacedTarget& target, const Predicted& predicted) {
  switch (target.by) {
    case PlacedBy::kHeat:
      return predicted.memory.hottest(target.dram_bytes);
    case PlacedBy::kFirstTouch:
      return predicted.memory.first_touched(target.dram_bytes);
    case PlacedBy::kFiles:
      return predicted.memory.of_files(target.files);
    case PlacedBy::kBlocks:
    case PlacedBy::kNode:
      return predicted.owners.of(target.owner);
    case PlacedBy::kInterleave:
    case PlacedBy::kNothing:
      break;
  }
  return predicted.memory.interleaved(target.slow_part);
}

}  // namespace nvmemu
