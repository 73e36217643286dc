// SPDX-License-Identifier: Apache-2.0
// How this kernel manages memory: what figures of areas, touches and reclaim depend on.
#pragma once

#include <cstdint>
#include <string>

namespace nvmemu::pmbench {

struct MemoryManagement {
  std::string area_tree;   // what the areas of a process are in
  std::string area_locks;  // what a page fault takes
  std::string lru;         // how pages to be reclaimed are found
  std::string huge_pages;  // transparent ones: always, madvise, never; none: not built
  std::uint64_t max_map_count = 0;
  std::uint64_t memory_bytes = 0, available_bytes = 0;
  std::uint64_t swap_bytes = 0, swap_free_bytes = 0;
};

// `release`: as uname(2) has it. From /proc and /sys under `root`.
MemoryManagement read_memory_management(const std::string& release, const std::string& root = "");
// Of the running kernel.
MemoryManagement read_memory_management();

// In a line, for people.
std::string describe(const MemoryManagement& management);

}  // namespace nvmemu::pmbench
