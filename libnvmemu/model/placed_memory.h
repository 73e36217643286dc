// SPDX-License-Identifier: Apache-2.0
// What of a recorded run's waits would be for a slower memory, if so much of what it has lay there: from the
// waits by 2 MiB of memory that a record keeps. Pure; allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "counters/record/record_reader.h"
#include "model/waited_shares.h"

namespace nvmemu {

// A mapping, and what was waited for it.
struct WaitedMapping {
  std::string name;  // empty: memory of no file, which is one as far as it goes on
  std::uint32_t process = 0;
  std::uint64_t begin = 0, end = 0;  // all that was ever seen of it
  double bytes = 0;                  // of it, in regions that are known
  double stall_ns = 0;
};

class PlacedMemory {
 public:
  explicit PlacedMemory(const Record& record);

  std::size_t regions() const { return regions_.size(); }
  double bytes() const { return bytes_; }                     // of all processes, in memory at some time
  double unknown_share() const { return shares_.unknown(); }  // of the stall, of which no address is known
  double misses() const { return shares_.misses(); }          // whose addresses the rest was split by

  // With so much of the faster memory, what is waited for most lying there. What is found so by samples looks
  // better than it is, since those that fell by chance are among the hottest; found by one half of the
  // samples, and judged by the other, it looks worse. It is taken to be in between, and how far these are
  // apart is in the error.
  SlowShare hottest(double dram_bytes) const;
  // With what was there first lying in it.
  SlowShare first_touched(double dram_bytes) const;
  // With what was mapped of these files, or of what lies below these folders, lying in the slower one. A
  // region is of what was mapped there when it was first seen.
  SlowShare of_files(const std::vector<std::string>& paths) const;
  bool knows_files(const std::vector<std::string>& paths) const;  // any of them
  // With `slow` of its pages in turn in the slower one: 0 to 1.
  SlowShare interleaved(double slow) const;

  // The most waited for first.
  std::vector<WaitedMapping> mappings() const;

 private:
  using Parts = WaitedShares::Parts;
  using Fast = WaitedShares::Fast;

  struct Region {
    RecordedRegion recorded;
    double bytes;
  };

  std::vector<std::size_t> as_they_came() const;
  Fast fill(const std::vector<std::size_t>& order, double dram_bytes) const;
  Fast fill_hottest(double dram_bytes, Parts parts) const;

  std::vector<Region> regions_;  // in the order in which they became known
  WaitedShares shares_;          // of them
  double bytes_ = 0;
};

}  // namespace nvmemu
