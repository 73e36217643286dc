// SPDX-License-Identifier: Apache-2.0
// What this process waits for by 2 MiB of its memory, and how much of each there is. Async-signal-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "counters/record/region_recorder.h"
#include "resident_peak.h"
#include "tier/region_heat.h"

namespace nvmemu::preload {

class Regions {
 public:
  // To be filled by who samples; null where there is no memory for it. Nothing else does anything then.
  RegionHeat* open() noexcept;
  RegionHeat* heat() noexcept { return heat_; }

  // At every tick, with the time of day that it is: finds what has come to be in memory, as often as it may.
  void look(std::uint64_t now_ns) noexcept;
  // Every now and then, likewise: the record has what was known by then.
  void tell(RecordWriter& record, std::uint32_t process, std::uint64_t now_ns) noexcept;
  // At once.
  void tell_last(RecordWriter& record, std::uint32_t process) noexcept;
  // Of all memory that there is by now. Some ms for each GiB. One thread at a time: another's call does
  // nothing.
  void find_resident() noexcept;

  // In the child of a fork: all of it is its parent's.
  void forget() noexcept;

 private:
  bool has_grown() noexcept;
  void find_resident_in(std::uintptr_t begin, std::uintptr_t end) noexcept;

  ResidentPeak peak_;
  RegionHeat* heat_ = nullptr;
  RegionRecorder* recorder_ = nullptr;
  std::atomic<bool> is_finding_{false};
  std::atomic<std::uint64_t> next_ns_{0};  // when to tell again,
  std::atomic<std::uint64_t> find_ns_{0};  // and to look what is in memory
  std::uint64_t found_bytes_ = 0;          // how much the process had when that was done
};

}  // namespace nvmemu::preload
