// SPDX-License-Identifier: Apache-2.0
// Keeps in a record what a process has waited for each 2 MiB of its memory. Zeros are a valid state: to lie
// in memory mapped for it alone. Async-signal-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "counters/record/record_writer.h"
#include "tier/region_heat.h"

namespace nvmemu {

class RegionRecorder {
 public:
  // The record has what is known by now. Reads /proc/self/maps where a region is new. One thread at a time:
  // another's call does nothing, and is for the next to make good.
  void tell(RegionHeat& heat, RecordWriter& record, std::uint32_t process) noexcept;

  // In the child of a fork: the entries are its parent's.
  void forget() noexcept;

 private:
  using Slot = record_format::RegionSlot;

  void name(RegionHeat& heat, std::size_t count) noexcept;

  std::atomic<bool> is_telling_;
  std::size_t known_;  // regions that have an entry, or have found no room for one
  std::uint32_t told_changes_;
  std::uint64_t told_elsewhere_;
  std::array<Slot*, RegionHeat::kMost> slots_;
};

}  // namespace nvmemu
