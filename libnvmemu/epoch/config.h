// SPDX-License-Identifier: Apache-2.0
// What a process that is to be emulated is told, through its environment. `nvmemu run` sets all of it; with
// LD_PRELOAD alone the user sets what differs from the defaults.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/migration_plan.h"
#include "plan/paging_plan.h"
#include "plan/storage_plan.h"
#include "plan/target_latency.h"
#include "plan/tier_plan.h"
#include "walk/rules.h"

namespace nvmemu {

enum class TickerChoice { kAuto, kPerfEvent, kPosixTimer };
enum class SourceChoice { kAuto, kPmu, kSampler, kReplay };

// Beside the preload library, and preloaded with it where needs_blocks().
inline constexpr std::string_view kBlockLibrary = "libnvmemu-malloc.so";

inline constexpr const char* kNodesVariable = "NVMEMU_NODES";

struct Config {
  double target_read_latency_ns = 0;  // NVMEMU_READ_LATENCY ("300ns"; "2x" is a multiple of the base), or
                                      // from NVMEMU_PROFILE (a built-in name); 0: nothing to emulate
  double target_multiple = 0;         // the "2x" form; 0 where a latency was given
  double target_read_bps = 0;         // NVMEMU_READ_BANDWIDTH, NVMEMU_WRITE_BANDWIDTH ("8GB/s"), or from
  double target_write_bps = 0;        // NVMEMU_PROFILE; 0: not limited
  bool stat = false;                  // NVMEMU_STAT=1: measure what is moved even where it is not limited
  PersistSpec persists{};             // NVMEMU_WRITE_LATENCY ("600ns", "2x"), NVMEMU_PERSIST_BANDWIDTH,
                                      // NVMEMU_WRITE_GRANULARITY ("256B"), NVMEMU_WRITE_QUEUE ("4KiB"),
                                      // NVMEMU_PERSIST (queue, sync, cache), or
                                      // from NVMEMU_PROFILE
  TierPlan tiers{};                   // NVMEMU_TIERS, as --tier has them, by semicolons; beside the above
  MigrationPlan migration{};          // NVMEMU_POLICY ("hot,window=1s,rate=1GB/s"), as --policy has it
  std::string nodes;           // NVMEMU_NODES, the folder in which tiers' nodes are shown, which the tool
                               // made; empty: there is none
  PagingPlan paging{};         // NVMEMU_DRAM ("256MiB"), NVMEMU_PAGE_TO (a folder, or a file's name),
                               // NVMEMU_PAGE_DEVICE (a name or a latency), NVMEMU_PAGE_LAYOUT,
                               // NVMEMU_PAGE_READAHEAD, NVMEMU_PAGE_POLICY, NVMEMU_PAGE_HANDLER,
                               // NVMEMU_PAGE_STORE
  StoragePlan storage{};       // NVMEMU_STORAGE (DIR=PROFILE, by line ends), NVMEMU_PAGE_CACHE ("1GiB")
  double base_latency_ns = 0;  // NVMEMU_BASE_LATENCY; 0: the calibrated one
  double epoch_ns = 100e6;     // NVMEMU_EPOCH, 1 ms to 10 s
  double alternate_ns = 0;     // NVMEMU_ALTERNATE, windows of 10 ms to 60 s with delays off and on; 0: on
  double clock_hz = 0;         // NVMEMU_CLOCK_HZ; 0: calibrate
  TickerChoice ticker = TickerChoice::kAuto;  // NVMEMU_TICKER: auto, perf, timer
  bool walks = true;                          // NVMEMU_WALKS: on, off
  bool allocation_sites = false;  // NVMEMU_ALLOCATION_SITES=1: places are told by who allocated them
  Rules rules{};                  // NVMEMU_WITHOUT_RULES: names of walk/rules.h, by commas
  SourceChoice source = SourceChoice::kAuto;  // NVMEMU_SOURCE: auto, pmu, sampler, replay:FILE
  std::string replay;                         // that file
  std::string verdict;           // NVMEMU_VERDICT, a file that says whether the counters are to be
                                 // trusted; empty: the cached one
  std::string model = "auto";    // NVMEMU_MODEL, a name that find_model() knows
  double remote_latency_ns = 0;  // NVMEMU_REMOTE_LATENCY; 0: not known
  std::string record;            // NVMEMU_RECORD, a file that the tool made; empty: none
  std::string calibration;       // NVMEMU_CALIBRATION, a file; empty: the cached one
  std::string board;             // NVMEMU_BOARD, a file; empty: this process makes one
  std::string report;            // NVMEMU_REPORT, a file; empty: none
  bool quiet = false;            // NVMEMU_QUIET=1: no summary on stderr
};

// Whether what the program allocates is looked at.
inline bool needs_blocks(const Config& config) {
  return config.allocation_sites || config.tiers.has_blocks();
}

// An epoch's length, 1 ms to 10 s.
Result<double> parse_epoch_ns(std::string_view text);

// A window's length of Alternation, 10 ms to 60 s.
Result<double> parse_alternate_ns(std::string_view text);

// Reads the environment; an empty variable counts as unset. An error names the variable, its value and what
// is allowed. Not signal-safe.
Result<Config> read_config();

// The variables, "NAME=value", that make read_config() give `config` in a child, whatever that inherits: all
// of them.
std::vector<std::string> to_environment(const Config& config);

}  // namespace nvmemu
