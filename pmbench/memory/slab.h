// SPDX-License-Identifier: Apache-2.0
// What the kernel's own records of areas take: its memory, not the process's, and never swapped out.
#pragma once

#include <cstdint>
#include <string>

namespace nvmemu::pmbench {

// Where the figure is from: the slabs of areas and of the tree's nodes (/proc/slabinfo, which root may read);
// else Slab and PageTables of /proc/meminfo, in which all others share; else nowhere.
enum class SlabSource : std::uint8_t { kNone, kMeminfo, kSlabinfo };

struct SlabReading {
  SlabSource source = SlabSource::kNone;
  std::uint64_t bytes = 0;
};

// From /proc under `root`.
SlabReading read_area_slabs(const std::string& root = "");

}  // namespace nvmemu::pmbench
