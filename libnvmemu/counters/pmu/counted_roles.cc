// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/counted_roles.h"

#include <span>

namespace nvmemu {
namespace {

using enum Role;

// In the order of the formulas, the most wanted first.
struct Wanted {
  std::array<Role, 7> on_one_node, on_several;
};
constexpr std::array<Wanted, 4> kWanted{{
    {.on_one_node = {kStall, kMiss, kEpisodes, kHit, kReads, kLocalDram, kRemoteDram},
     .on_several = {kStall, kLocalDram, kRemoteDram, kEpisodes, kMiss, kHit, kReads}},
    {.on_one_node = {kStall, kMiss, kHit, kReads, kEpisodes, kLocalDram, kRemoteDram},
     .on_several = {kStall, kHit, kReads, kLocalDram, kRemoteDram, kMiss, kEpisodes}},
    {.on_one_node = {kStall, kLocalDram, kHit, kInnerHit, kEpisodes, kRemoteDram, kLocalOther},
     .on_several = {kStall, kLocalDram, kRemoteDram, kHit, kInnerHit, kEpisodes, kLocalOther}},
    {.on_one_node = {kMiss, kLocalDram, kInFlight, kAnyInFlight, kHit, kRemoteDram, kInnerHit},
     .on_several = {kMiss, kLocalDram, kRemoteDram, kInFlight, kAnyInFlight, kHit, kInnerHit}},
}};

}  // namespace

CountedRoles roles_to_count(const Microarchitecture& design, int numa_nodes) noexcept {
  const Wanted& wanted = kWanted[static_cast<std::size_t>(design.formula)];
  CountedRoles counted{.roles = {kCycles}, .size = 1};
  int free_counters = design.counters;
  for (const Role role : numa_nodes > 1 ? wanted.on_several : wanted.on_one_node) {
    if (design.find(role) == nullptr || free_counters == 0 || counted.size == counted.roles.size()) continue;
    counted.roles[counted.size++] = role;
    --free_counters;
  }
  return counted;
}

}  // namespace nvmemu
