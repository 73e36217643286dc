// SPDX-License-Identifier: Apache-2.0
#include "plan/tier_checks.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/path.h"
#include "base/quote.h"
#include "base/units.h"
#include "plan/target_latency.h"
#include "plan/tier_rules.h"

namespace nvmemu {

Result<void> find_tier_files(TierSpec& tier) {
  for (std::string& path : tier.files) {
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
    if (real == nullptr)
      return wrong_tier(
          tier.name, quote(path) + ": " + std::strerror(errno),
          "make the file or its folder first: all that is mapped below a folder is in the tier");
    path = real.get();
    if (path.find_first_of(",;") != std::string::npos)
      return wrong_tier(tier.name, quote(path) + " has a comma or semicolon in it",
                        "rename it, or name a folder further up");
  }
  return {};
}

Result<void> check_tier_files(const TierPlan& plan, const TierSpec& tier) {
  for (const TierSpec& other : plan.tiers) {
    if (other.name == tier.name) continue;
    for (const std::string& path : other.files) {
      for (const std::string& file : tier.files) {
        if (is_at_or_below(path, file) || is_at_or_below(file, path))
          return wrong_tier(tier.name,
                            quote(file) + " and tier " + other.name + "'s " + quote(path) + " overlap",
                            "a file can be in one tier only");
      }
    }
  }
  return {};
}

Result<void> check_tier_node(const TierSpec& tier, const MemoryNodes& machine) {
  if (tier.node == 0 || (machine.online >> tier.node & 1) == 0) return {};
  return wrong_tier(tier.name, "this machine has a node " + std::to_string(tier.node) + " of its own",
                    "its nodes are " + list_of_mask(machine.online) + ": take a number that is none of them");
}

std::vector<std::string> warnings_of_sizes(const TierSpec& tier, const MemoryNodes& machine) {
  std::vector<std::string> warnings;
  if (machine.bytes == 0) return warnings;
  const std::string who = "tier " + tier.name + ": ";
  if (tier.after_bytes > machine.bytes)
    warnings.push_back(who + "after " + format_size(tier.after_bytes) +
                       " nothing will be in it, for this machine has " + format_size(machine.bytes));
  if (tier.least_block_bytes > machine.bytes)
    warnings.push_back(who + "no block of " + format_size(tier.least_block_bytes) +
                       " will be in it, for this machine has " + format_size(machine.bytes));
  if (tier.node != 0 && tier.node_bytes > machine.bytes)
    warnings.push_back(who + "node " + std::to_string(tier.node) + " is shown with " +
                       format_size(tier.node_bytes) + ", more than this machine's memory, " +
                       format_size(machine.bytes) + ": what is put there takes as much of that");
  return warnings;
}

Result<double> tier_target_ns(const TierSpec& tier, double base_ns) {
  const double asked_ns = tier.memory.read.over(base_ns);
  return reachable_target_ns(tier.of_storage ? std::max(asked_ns, base_ns) : asked_ns, base_ns,
                             "tier " + tier.name + " asks for");
}

}  // namespace nvmemu
