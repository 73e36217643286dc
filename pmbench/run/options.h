// SPDX-License-Identifier: Apache-2.0
// What a run of pmbench is asked to do: the original's options by their names there, and ours. Plain data;
// checked by command_line.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvmemu::pmbench {

enum class AccessMode : std::uint8_t { kHisto, kTouch };
enum class TimestampKind : std::uint8_t { kRdtscp, kRdtsc, kPerfCounter, kArmCounter };
enum class MemoryKind : std::uint8_t { kAnonymous, kFile, kShared, kMemfd, kHugetlb };
enum class HugePages : std::uint8_t { kOff, kOn, kAsIs };

// A pattern with its parameters, for some time: `--phase "uniform:10s,zipf:20s"` is two of them.
struct Phase {
  std::string pattern = "uniform";  // a name of the pattern table
  double shape = 1.00001;           // -e: stride in pages, sigma in pages, or alpha
  bool shape_given = false;
  double seconds = 0;
};

struct Options {
  // The original's.
  double duration_s = 0;
  std::uint64_t map_mib = 256;                       // -m
  std::uint64_t set_mib = 128;                       // -s
  AccessMode access = AccessMode::kHisto;            // -a
  unsigned read_percent = 50;                        // -r
  int offset = -1;                                   // -o: 4-byte word in the page; -1: random
  std::uint64_t delay_cycles = 0;                    // -d
  TimestampKind timestamp = TimestampKind::kRdtscp;  // -t
  unsigned jobs = 1;                                 // -j
  bool cold = false;                                 // -c
  bool initialize = false;                           // -i
  bool quiet = false;                                // -q
  bool write_needs_read = false;                     // -z
  std::uint64_t threshold_ns = 0;                    // -h
  std::string xml_file;                              // -f
  std::string affinity;                              // -y: processors, and a node after a colon: "0-3:1"
  std::vector<Phase> phases;                         // at least one; one for -p and -e

  // Ours.
  std::uint64_t seed = 1;
  std::string json_file, csv_file, series_csv_file;
  MemoryKind memory = MemoryKind::kAnonymous;
  std::string backing_file;  // of MemoryKind::kFile
  HugePages huge_pages = HugePages::kAsIs;
  std::uint64_t page_bytes = 4096;
  std::string
      numa;  // as libnuma's policies are written: "bind:0,1", "preferred:1", "interleave:all"; "": default
  std::optional<unsigned> compressible_percent;  // of the initial contents; none: full entropy
  std::optional<std::uint64_t> memory_limit_bytes;
  std::optional<int> page_cluster;
  std::string swap_device;        // swap/swap_request.h's names, or a block device; empty: the machine's
  std::string swap_profile;       // a device as which it is to be slow, by name,
  double swap_latency_ns = 0;     // or by what a request takes; 0: neither
  std::uint64_t swap_bytes = 0;   // of a device that is made; 0: as much as the map
  std::uint64_t eater_bytes = 0;  // memory taken and kept busy beside the benchmark
  std::string trace_file;
  unsigned repeat = 1;
  std::string fence = "lfence";  // by name: see measure/timestamp.h
};

}  // namespace nvmemu::pmbench
