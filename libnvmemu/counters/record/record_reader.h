// SPDX-License-Identifier: Apache-2.0
// Records back from their files (docs/record.md), checked: whatever the bytes, there is an error that says
// what is wrong with them, or a record of which every figure is a sensible one. Not for signal handlers:
// allocates.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/record/record_writer.h"

namespace nvmemu {

struct RecordedProcess {
  std::uint32_t number = 0, pid = 0, ppid = 0;
  std::string command;
};

struct RecordedEpoch {
  ThreadPlace place;
  double begin_ns, end_ns;  // wall time since the command was started, begin <= end
  EpochCounts counts;
};

// What was waited for a part of a process's memory. Weights mean something in proportion to each other.
struct RecordedWaits {
  std::uint32_t process = 0;
  std::array<double, RegionHeat::kParts> waited{};  // weights of its misses: so many measurements
  double misses = 0;                                // that these are the weights of

  double waited_in_all() const { return std::accumulate(waited.begin(), waited.end(), 0.0); }
};

// 2 MiB of it.
struct RecordedRegion : RecordedWaits {
  std::uint64_t address = 0;        // of its first byte
  double resident_bytes = 0;        // the most that was found in memory; 0: nobody has looked
  std::uint64_t mapping_begin = 0;  // of what was mapped there when it was first seen
  std::uint64_t mapping_end = 0;
  std::string mapping;  // its file, or as in "[heap]"; empty: of no file, or not known
};

// Blocks that the same calls have allocated, and what lies on one node: record_format.h.
struct RecordedOwner : RecordedWaits {
  std::uint32_t calls = 0;                 // of Record::calls; 0: no block
  std::uint32_t node = 0;                  // 0: none of the emulated ones
  double least_bytes = 0, most_bytes = 0;  // of its blocks
};

struct RecordedCall {
  std::string library, function;  // as the linker has it; empty: it knows none
};

struct Record {
  RecordInfo info;
  double wall_ns = 0;       // of the command; where it was cut off, to the end of the last epoch
  bool is_cut_off = false;  // nvmemu record did not see the end; the exit status is not known then
  int exit_status = 0;
  std::vector<std::string> warnings;
  std::uint64_t lost = 0;        // epochs that found no room
  std::uint64_t unfinished = 0;  // epochs that were being written when their thread was killed
  std::vector<RecordedProcess> processes;
  std::vector<RecordedEpoch> epochs;       // in the order of their ends, within a thread
  std::vector<const QuantityRow*> unkept;  // that its version did not keep of them
  bool keeps_regions = true;               // false: it was made before records had them
  std::vector<RecordedRegion> regions;     // in the order in which they became known
  double elsewhere = 0;                    // weights of misses whose region found no room
  std::vector<RecordedOwner> owners;       // of a process with misses, all of them, where records have any
  std::map<std::uint32_t, std::vector<RecordedCall>> calls;  // lists by their number, the nearest call first
  std::uint64_t unowned = 0;                                 // blocks of which nothing was kept
};

Result<Record> parse_record(std::span<const std::byte> bytes);

// An error names the file.
Result<Record> read_record(const std::string& path);

}  // namespace nvmemu
