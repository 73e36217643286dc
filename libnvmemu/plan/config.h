// SPDX-License-Identifier: Apache-2.0
// What a process that is to be emulated is told, through its environment. `nvmemu run` sets all of it; with
// LD_PRELOAD alone the user sets what differs from the defaults.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "counters/thread_source.h"
#include "plan/memory_target.h"
#include "plan/migration_plan.h"
#include "plan/paging_plan.h"
#include "plan/storage_plan.h"
#include "plan/tier_plan.h"
#include "walk/rules.h"

namespace nvmemu {

enum class SourceChoice { kAuto, kPmu, kSampler, kReplay };

// Beside the preload library, and preloaded with it where needs_blocks().
inline constexpr std::string_view kBlockLibrary = "libnvmemu-malloc.so";

inline constexpr const char* kNodesVariable = "NVMEMU_NODES";

// Each is a row of config_fields(), which has what it is called and how it is written.
struct Config {
  MemoryTarget memory{};  // the machine's own; no read latency: nothing is emulated, unless more is asked for
  std::string profile;    // that it is of; empty: of none
  bool of_file = false;   // a profile of the user's
  bool stat = false;      // measure what is moved even where it is not limited
  TierPlan tiers{};       // beside it
  MigrationPlan migration{};  // between them
  std::string nodes;          // the folder in which tiers' nodes are shown, which the tool made; empty: none
  PagingPlan paging{};
  StoragePlan storage{};
  double base_latency_ns = 0;  // 0: the calibrated one
  double epoch_ns = 100e6;     // 1 ms to 10 s
  double alternate_ns = 0;     // windows of 10 ms to 60 s with delays off and on; 0: on
  double clock_hz = 0;         // 0: calibrate
  TickerKind ticker = TickerKind::kAny;
  bool walks = true;
  bool allocation_sites = false;  // places are told by who allocated them
  Rules rules{};                  // that are followed
  SourceChoice source = SourceChoice::kAuto;
  std::string replay;   // the record that is replayed
  std::string verdict;  // a file that says whether the counters are to be trusted; empty: the cached one
  std::string model = "auto";    // a name that find_model() knows
  double remote_latency_ns = 0;  // 0: not known
  std::string record;            // a file that the tool made; empty: none
  std::string calibration;       // a file; empty: the cached one
  std::string board;             // a file; empty: this process makes one
  std::string report;            // a file; empty: none
  bool quiet = false;            // no summary on stderr
};

// Whether files of the user's have said what memories are like, or which memory is theirs: what starts later
// may not find them, or find others.
bool rests_on_files(const Config& config);

// The key of what has it that nothing is walked; empty: it is.
std::string_view why_unwalked(const Config& config);

// Whether what the program allocates is looked at.
inline bool needs_blocks(const Config& config) {
  return config.allocation_sites || config.tiers.has_blocks();
}

// One thing that can be asked for: as a variable of the environment, NVMEMU_READ_LATENCY, and most as an
// option,
// --read-latency.
struct ConfigField {
  std::string_view key;  // "read-latency"
  Result<void> (*read)(std::string_view text, Config& config);
  std::string (*write)(const Config& config);  // what read() reads as the same; "": as by default

  std::string variable() const;
};

// All, in the order in which they are read: a later one may rest on an earlier one, or go before it.
std::span<const ConfigField> config_fields();
// There is one of that key.
const ConfigField& config_field(std::string_view key);

// An epoch's length, 1 ms to 10 s.
Result<double> parse_epoch_ns(std::string_view text);

// A window's length of Alternation, 10 ms to 60 s.
Result<double> parse_alternate_ns(std::string_view text);

// Reads the environment; an empty variable counts as unset. An error names the variable, its value and what
// is allowed. Not signal-safe.
Result<Config> read_config();

// The variables, "NAME=value", that make read_config() give `config` in a child, whatever that inherits: all
// of them. Of a profile they have what it says.
std::vector<std::string> to_environment(const Config& config);

}  // namespace nvmemu
