// SPDX-License-Identifier: Apache-2.0
// Which part of a program's memory is to be which: of --tier and NVMEMU_TIERS. docs/tiers.md has the rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "plan/memory_target.h"
#include "tier/tier.h"
#include "tier/tier_pattern.h"

namespace nvmemu {

// What tier 0 is called.
inline constexpr std::string_view kMachinesOwnTier = "dram";

struct TierSpec {
  std::string name;
  std::string profile;   // that the latency is of; empty: it was given as such
  bool of_file = false;  // a profile of the user's, not to be found by its name
  MemoryTarget memory{};
  std::vector<std::string> files;       // what is mapped of these, or of what lies below them, is in it
  std::vector<std::string> callers;     // blocks that these functions or libraries allocate are in it
  std::uint64_t least_block_bytes = 0;  // those of that size and more; 0: of no size
  std::uint64_t after_bytes = 0;        // what a process touches when it has so much memory; 0: never
  int node = 0;                         // the number of the NUMA node that it is shown as; 0: as none
  std::uint64_t node_bytes = 0;         // how large that is shown to be; 0: as the machine's memory
  bool of_storage = false;              // it comes of --storage: where this machine is slower, it is as it is
};

struct TierPlan {
  std::vector<TierSpec> tiers;  // the first is tier 1
  TierPattern otherwise{};      // what no rule speaks of

  bool empty() const { return tiers.empty(); }
  bool has_nodes() const;
  bool limits_bandwidth() const;
  bool has_blocks() const;  // whether allocations matter
  // 0: there is none of that name.
  TierId find(std::string_view name) const;
};

// NAME=MEMORY[,RULE...]: MEMORY is a profile (by its name, or a file's), a latency ("300ns") or a multiple
// ("2x"); a RULE is file=PATH, node=NUMBER (of a NUMA node without processors, that the program is shown),
// size=SIZE (of that node), write-latency=LATENCY (or a multiple of this machine's own persist),
// persist-bandwidth=BANDWIDTH, write-granularity=SIZE and write-queue=SIZE (of the medium),
// persist=queue|sync|cache, read-bandwidth=BANDWIDTH, write-bandwidth=BANDWIDTH, interleave=OWN:PARTS (pages
// of the machine's memory for each so many of this), granularity=SIZE (of such pages), or rest. An error
// where it cannot be understood, or does not go with what `plan` has already.
Result<void> add_tier(TierPlan& plan, std::string_view text);

// All of them, by semicolons; or FILE.toml, which they stand in (tier_file.h).
Result<TierPlan> parse_tiers(std::string_view text);

// What parse_tiers() makes the same of. Latencies and the like in place of profiles.
std::string format_tiers(const TierPlan& plan);

}  // namespace nvmemu
