// SPDX-License-Identifier: Apache-2.0
// What the kernel's own records of areas take: its memory, not the process's, and never swapped out.
#pragma once

#include <cstdint>
#include <functional>
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

// The records of areas that are gone go some time later, when no processor may look at them any more: `read`,
// again after each `wait`, until no more go. At most 25 waits; without them, or where they never end, the
// last reading.
SlabReading settled(const std::function<SlabReading()>& read, const std::function<void()>& wait);

}  // namespace nvmemu::pmbench
