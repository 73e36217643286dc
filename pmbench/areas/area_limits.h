// SPDX-License-Identifier: Apache-2.0
// What a run of `pmbench vma` will use, and whether this machine has it: known before it uses any.
#pragma once

#include <cstdint>
#include <string>

#include "areas/vma_result.h"
#include "base/result.h"

namespace nvmemu::pmbench {

struct AreaLimits {
  std::uint64_t max_map_count = 0;  // areas that the kernel allows a process
  std::uint64_t memory_bytes = 0, available_bytes = 0;
  std::uint64_t address_bytes = 0;  // that the process may still map (ulimit -v)
  std::uint64_t commit_bytes = 0;   // likewise, where the kernel does not overcommit
};

struct AreaNeeds {
  std::uint64_t areas = 0;          // of the pattern with most
  std::uint64_t kernel_bytes = 0;   // for those
  std::uint64_t address_bytes = 0;  // of the pattern with most
  std::uint64_t own_bytes = 0;      // to record latencies
};

// Of this process, from /proc under `root`.
AreaLimits read_area_limits(const std::string& root = "");

AreaNeeds area_needs(const VmaOptions& options);

// All but `spare_areas` of those allowed, unless the limit will be raised; 5 % of memory and half of what is
// available for the kernel's records; and room for addresses. An error says how many operations there may
// be.
inline constexpr std::uint64_t kSpareAreas = 1000;
Result<void> check_area_needs(const VmaOptions& options, const AreaLimits& limits);

// That the limit may be raised where that is asked for.
Result<void> check_raising(const VmaOptions& options, const std::string& root = "");

// In a line, for people, before the run.
std::string describe(const AreaNeeds& needs, const VmaOptions& options);

}  // namespace nvmemu::pmbench
