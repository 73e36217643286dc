// SPDX-License-Identifier: Apache-2.0
#include "tier_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/quote.h"
#include "base/units.h"
#include "device/profile_file.h"
#include "host/memory_nodes.h"
#include "plan/tier_file.h"

namespace nvmemu {
namespace {

Result<Profile> find_tier_profile(const std::string& name) { return find_profile(name); }

// As the program will see it; a folder that is not there yet could be on any file system.
Result<void> check_tier_file(const std::string& tier, std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  if (real == nullptr)
    return failure(fmt::format("tier {}: {}: {}", tier, quote(path), std::strerror(errno)),
                   "make the file or its folder first: all that is mapped below a folder is in the tier");
  path = real.get();
  if (path.find_first_of(",;") != std::string::npos)
    return failure(fmt::format("tier {}: {} has a comma or semicolon in it", tier, quote(path)),
                   "rename it, or name a folder further up");
  return {};
}

// `option`: what the errors begin with.
Result<void> check_tier(const std::string& option, const std::string& text, RunRequest& request) {
  if (const auto added = add_tier(request.config.tiers, text, find_tier_profile); !added)
    return in_option(option, added.error());
  TierSpec& tier = request.config.tiers.tiers.back();
  for (std::string& path : tier.files) {
    if (auto checked = check_tier_file(tier.name, path); !checked) return in_option(option, checked.error());
  }
  if (auto checked = check_against_machine(tier, read_memory_nodes(), request); !checked)
    return in_option(option, checked.error());
  return {};
}

// What is mapped of files in memory that stands for storage is a tier of that memory. Only walks tell of
// tiers: without them such mappings cost nothing more.
Result<void> add_stored_tiers(const RunOptions& options, RunRequest& request) {
  if (options.no_walks || request.config.source == SourceChoice::kPmu ||
      request.config.source == SourceChoice::kReplay)
    return {};
  int number = 0;
  for (const StorageFolder& folder : request.config.storage.folders) {
    ++number;
    if (folder.device.memory.empty()) continue;
    const std::string tier = fmt::format("storage{}={},file={}", number, folder.device.memory, folder.path);
    if (auto checked = check_tier("--storage", tier, request); !checked) return checked;
    request.config.tiers.tiers.back().of_storage = true;
  }
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

Result<void> check_against_machine(const TierSpec& tier, const MemoryNodes& machine, RunRequest& request) {
  if (tier.after_bytes > machine.bytes)
    request.warnings.push_back(fmt::format("tier {}: after {} nothing will be in it, for this machine has {}",
                                           tier.name, format_size(tier.after_bytes),
                                           format_size(machine.bytes)));
  if (tier.node == 0) return {};
  if ((machine.online >> tier.node & 1) != 0)
    return failure(
        fmt::format("tier {}: this machine has a node {} of its own", tier.name, tier.node),
        fmt::format("its nodes are {}: take a number that is none of them", list_of_mask(machine.online)));
  if (tier.node_bytes > machine.bytes)
    request.warnings.push_back(
        fmt::format("tier {}: node {} is shown with {}, more than this machine's memory, {}: what is put "
                    "there takes as much of that",
                    tier.name, tier.node, format_size(tier.node_bytes), format_size(machine.bytes)));
  return {};
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
  if (auto added = add_stored_tiers(options, request); !added) return added;
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
    const double asked_ns = tier.memory.read.over(base_ns);
    const Result<double> target_ns =
        reachable_target_ns(tier.of_storage ? std::max(asked_ns, base_ns) : asked_ns, base_ns,
                            fmt::format("--tier: tier {} asks for", tier.name));
    if (!target_ns) return tl::unexpected(target_ns.error());
    tier.memory.read = {.ns = *target_ns};
  }
  return {};
}

}  // namespace nvmemu
