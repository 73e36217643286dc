// SPDX-License-Identifier: Apache-2.0
#include "placed_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/units.h"
#include "device/profile_file.h"
#include "model/prediction.h"
#include "plan/target_latency.h"
#include "plan/tier_plan.h"
#include "run_options.h"

namespace nvmemu {
namespace {

Result<Profile> find_tier_profile(const std::string& name) { return find_profile(name); }

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

// Of one --tier: a row for its rule, or two for each size.
Result<void> add_placed(const TierPlan& plan, double base_ns, const std::vector<double>& sizes,
                        std::vector<PlacedTarget>& targets) {
  const TierSpec& tier = plan.tiers.front();
  const std::string who = "tier " + tier.name;
  if (tier.least_block_bytes != 0 || tier.node != 0)
    return failure("--tier: " + who + ": a record does not tell what these rules would put there",
                   "rules that can be predicted are file=, rest, interleave= and after=");
  const int rules = int{!tier.files.empty()} + int{plan.otherwise.has(1)} + int{tier.after_bytes != 0};
  if (rules > 1)
    return failure("--tier: " + who + ": one rule at a time can be predicted",
                   "ask for each of them by a --tier of its own");
  const Result<double> latency_ns =
      reachable_target_ns(tier.memory.read.over(base_ns), base_ns, "--tier: " + who + " asks for");
  if (!latency_ns) return tl::unexpected(latency_ns.error());
  PlacedTarget target;
  target.tier = tier.name;
  target.memory = tier.memory.read.multiple > 0 ? format_target_latency(tier.memory.read) : tier.profile;
  target.latency_ns = *latency_ns;
  const auto add = [&](PlacedBy by, double bytes) {
    target.by = by;
    target.dram_bytes = bytes;
    targets.push_back(target);
  };
  if (!tier.files.empty()) {
    std::ranges::transform(tier.files, std::back_inserter(target.files), as_mapped);
    return add(PlacedBy::kFiles, 0), Result<void>();
  }
  if (const TierPattern& rest = plan.otherwise; rest.has(1)) {
    if (!rest.is_interleaved()) return add(PlacedBy::kNothing, 0), Result<void>();
    target.slow_part = static_cast<double>(rest.parts[1].pages) / rest.pages_in_turn();
    target.interleave = fmt::format("{}:{}", rest.parts[0].pages, rest.parts[1].pages);
    return add(PlacedBy::kInterleave, 0), Result<void>();
  }
  if (tier.after_bytes != 0)
    return add(PlacedBy::kFirstTouch, static_cast<double>(tier.after_bytes)), Result<void>();
  if (sizes.empty())
    return failure("--tier: " + who + ": it is not said what lies there",
                   "add --dram SIZE,...: how much of the machine's memory is beside it; or a rule: rest, "
                   "interleave=3:1, after=SIZE, file=PATH");
  for (const double bytes : sizes) {
    add(PlacedBy::kHeat, bytes);
    add(PlacedBy::kFirstTouch, bytes);
  }
  return {};
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
    if (const auto added = add_tier(plan, text, find_tier_profile); !added)
      return in_option("--tier", added.error());
    if (const auto added = add_placed(plan, base_ns, *sizes, targets); !added)
      return tl::unexpected(added.error());
  }
  return targets;
}

Result<void> check_known_places(const PredictOptions& options, const Record& record,
                                const PlacedMemory& memory, const std::vector<PlacedTarget>& targets) {
  const bool asks = std::ranges::any_of(targets, [](const PlacedTarget& target) {
    return target.by == PlacedBy::kHeat || target.by == PlacedBy::kFirstTouch ||
           target.by == PlacedBy::kFiles;
  });
  if (!asks) return {};
  const auto unknown = [&](const std::string& why, const std::string& mend) {
    return failure(options.file + " does not tell which memory was waited for: " + why, mend);
  };
  if (!record.keeps_regions)
    return unknown("it was made by a version that did not note it", "record it again");
  for (const PlacedTarget& target : targets) {
    if (target.by == PlacedBy::kFiles && memory.misses() > 0 && !memory.knows_files(target.files))
      return failure(
          "--tier: tier " + target.tier + ": no memory of " + target.files.front() + " was seen in " +
              options.file,
          "name a file, or a folder that it is in, as nvmemu predict shows it for " + options.file);
  }
  if (memory.misses() > 0 || totals_of(record).stall_ns <= 0) return {};
  if (record.info.counts != kSamplerCounts)
    return unknown("hardware counters do not know", "record it again with --source sampler");
  return unknown("no walk came upon a load from memory",
                 "record a longer run, on a machine where 'nvmemu info' says that code is walked");
}

SlowShare slow_share_of(const PlacedTarget& target, const PlacedMemory& memory) {
  switch (target.by) {
    case PlacedBy::kHeat:
      return memory.hottest(target.dram_bytes);
    case PlacedBy::kFirstTouch:
      return memory.first_touched(target.dram_bytes);
    case PlacedBy::kFiles:
      return memory.of_files(target.files);
    case PlacedBy::kInterleave:
    case PlacedBy::kNothing:
      break;
  }
  return memory.interleaved(target.slow_part);
}

}  // namespace nvmemu
