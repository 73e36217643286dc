// SPDX-License-Identifier: Apache-2.0
// What a run of `pmbench touch` or `kswapd` will use, and whether this machine has it, and is safe with it:
// known before it uses any.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "touch/touch_result.h"

namespace nvmemu::pmbench {

struct TouchMachine {
  MemoryManagement management;
  std::uint64_t min_free_bytes = 0;              // that the kernel keeps for itself: vm.min_free_kbytes
  std::optional<std::uint64_t> limited_bytes{};  // of the memory cgroup that this process is in already
  std::string container{};                       // what tells that this is one; empty: nothing does
};

// Of this machine, from /proc, /sys and / under `root`.
TouchMachine read_touch_machine(const std::string& root = "");

// The memory there will be, and what will be touched of the mapping, in whole pages of 2 MiB.
struct TouchNeeds {
  std::uint64_t memory_bytes = 0;
  std::uint64_t touched_bytes = 0;
  std::uint64_t eaten_bytes = 0;
  std::uint64_t swap_bytes = 0;       // that is touched beyond the memory
  std::uint64_t made_swap_bytes = 0;  // of a device made for the run
};
TouchNeeds touch_needs(const TouchOptions& options, const TouchMachine& machine);

// A limit that protects the machine, or --whole-machine where that is safe; a ratio that makes it page; swap,
// of which half stays free; huge pages where they are asked for.
Result<void> check_touch(const TouchOptions& options, const TouchMachine& machine);

// That nobody else swaps: nothing is swapped in or out for a second. A caller that waits less: see `wait_s`.
Result<void> check_nobody_swaps(double wait_s = 1, const std::string& root = "");

// In a line, for people, before the run.
std::string describe(const TouchNeeds& needs, const TouchOptions& options);

}  // namespace nvmemu::pmbench
