// SPDX-License-Identifier: Apache-2.0
// A run's figures over all of its threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "run/result.h"

namespace nvmemu::pmbench {

struct Totals {
  std::uint64_t accesses = 0;
  double accesses_per_s = 0;  // 0: took no time
  LatencyCounts reads, writes, all;
  std::array<LatencyCounts, kAccessClasses> classes;
  std::uint64_t own_faults = 0;
  std::uint64_t migrations = 0;
  std::optional<std::uint64_t> vmstat_major_faults;  // of the whole machine, over the timed part
};

Totals totals_of(const RunResult& result);

// The snapshot of that name, or null.
const MemorySnapshot* find_snapshot(const RunResult& result, std::string_view name);

}  // namespace nvmemu::pmbench
