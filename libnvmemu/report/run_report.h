// SPDX-License-Identifier: Apache-2.0
// The run report, schema "nvmemu-run-1": what a run was, what was injected, and how sure that is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "base/result.h"
#include "counters/quantities.h"
#include "device/device.h"
#include "plan/storage_plan.h"
#include "report/board.h"
#include "storage/shared_storage.h"

namespace nvmemu {

struct ThreadReport : Quantities {
  std::uint32_t tid = 0;
  std::string name{};
  double unpaid_ns = 0;
  bool ended = false;  // false: killed, or still running; the figures are those of its last epoch
};

struct ProcessReport {
  std::uint32_t pid = 0, ppid = 0;
  std::string command;
  bool emulated = true;  // false: it ran natively; a warning says why
  std::vector<ThreadReport> threads;
};

struct RunTotals : Quantities {
  std::uint64_t threads = 0;
  double unpaid_ns = 0;
};

// Of what was waited for, > 0, the part of loads that no walk has passed.
inline double unwalked_share(const RunTotals& totals) {
  return std::min(1.0, totals.unwalked_ns / totals.stall_ns);
}

// A part of the memory that is emulated as another one; the first is the machine's own memory.
struct TierReport {
  std::string name;
  std::string profile;  // that the latency is of; empty: it was given as such
  double read_latency_ns = 0;
  std::string rule;          // what is in it, for people
  double read_bytes = 0;     // what was streamed from it, where that is measured,
  double written_bytes = 0;  // and to it
  double placed_bytes = 0;   // that were ever put into it, by a file rule or nvmemu_place()
  double stall_ns = 0;       // what was waited for it here,
  double load_stall_ns = 0, locked_stall_ns = 0, store_stall_ns = 0, fence_stall_ns = 0;  // by what,
  double delay_ns = 0;                     // and how much longer it is to be waited for
  double readings = 0;                     // loads that walks have found in it, by which that is known
  std::optional<double> share_error_95{};  // of its share of stall_ns; empty: nothing was found anywhere
  std::uint64_t comes_after_bytes = 0;     // that a process has touched elsewhere; 0: not so; not in JSON
  bool has_the_rest = false;               // or a part of it: of what nobody places
  std::vector<std::string> files{}, callers{};  // of its rules; not in JSON,
  std::uint64_t least_block_bytes = 0;          // as is this, by size alone; 0: no block is in it for that,
  int node = 0;                                 // and this; 0: it is none
};

inline double stall_ns_of(const std::vector<TierReport>& tiers) {
  double sum = 0;
  for (const TierReport& tier : tiers) sum += tier.stall_ns;
  return sum;
}

// Memory that was waited for: a file that is mapped, the heap, a stack, or other memory.
struct PlaceReport {
  std::uint64_t pid = 0;
  std::string name;     // as in /proc/PID/maps; empty: of no file
  std::string site{};   // of blocks, which have no name: who allocated them, "build at index+0x11c4"
  double begin = 0;     // the lowest address,
  double bytes = 0;     // and as far as it was ever seen to go
  double stall_ns = 0;  // what loads from it were waited for here
};

// Memory that a policy has moved between tiers.
struct MigrationReport {
  std::string policy;                           // empty: none, nothing moves
  std::uint64_t promotions = 0, demotions = 0;  // of regions of 2 MiB, to and from the machine's memory
  double bytes = 0;                             // that these had
  double delay_ns = 0;                          // how long it was waited for that
};

// Stores that were made durable, as far as that was seen.
struct PersistReport {
  bool is_emulated = false;  // somebody asked for a write latency
  double native_ns = 0;      // what one takes here
  std::uint64_t persists = 0, lines = 0;
  double delay_ns = 0;  // that they were waited for longer, and the following,
  // which nobody told of: as walks have them. Of the delay, theirs, and half the width of its 95 % confidence
  // interval.
  std::uint64_t estimated_persists = 0, estimated_lines = 0;
  double estimated_delay_ns = 0, estimated_error_ns = 0;
};

// How long faults of a kind took in the pager, the program's signal and its return apart. Of none: zeros.
// So many took from `begin_ns` to `end_ns`.
struct TimeBucket {
  double begin_ns = 0, end_ns = 0;
  std::uint64_t faults = 0;
  bool operator==(const TimeBucket&) const = default;
};

struct FaultReport {
  std::uint64_t faults = 0;
  double mean_ns = 0;  // 0 where it is not known
  double median_ns = 0, p99_ns = 0, p999_ns = 0;
  std::vector<TimeBucket> histogram{};  // those that there were, shortest first
};

// What the device that pages go to endures, as its profile has it; 0: not known.
struct EnduranceReport {
  double capacity_bytes = 0, erase_cycles = 0, erase_block_bytes = 0;
};

// Memory that was kept in a file, with some DRAM before it. Over all processes.
struct PagingReport {
  double dram_bytes = 0;  // that each process may have; 0: nothing is paged
  std::string page_to{}, device{};
  std::string layout{}, read_ahead{}, policy{}, handler{};  // by the names of paging_choices.h
  std::string store{};                  // where the file's pages were: direct, page-cache or memory
  FaultReport device_waits{};           // waits for the device's model: a part of hard faults
  FaultReport first{}, soft{}, hard{};  // a first touch; of a page on its way out; of one that was out
  FaultReport write{};                  // the first write to a page that was read in: write_faults of them
  std::uint64_t write_faults = 0, touched_pages = 0;
  double device_ns = 0;                                                // waited for the device's model
  std::uint64_t written_pages = 0, dropped_pages = 0, zero_pages = 0;  // that left DRAM
  std::uint64_t ahead_pages = 0, ahead_used = 0, ahead_dropped = 0;    // read beside what was needed
  std::uint64_t cleaned_pages = 0;  // written once more, so that a log has room
  std::uint64_t sequential_read_pages = 0, random_read_pages = 0;  // as the device saw them
  std::uint64_t sequential_written_pages = 0, random_written_pages = 0;
  std::uint64_t trapped_calls = 0, forks = 0, fork_copied_pages = 0;
  std::uint64_t failed_writes = 0, failed_reads = 0, surprises = 0;
  double most_dram_bytes = 0, most_store_bytes = 0;  // of one process
  std::uint64_t erases = 0;                          // of the device's blocks, in its model
  EnduranceReport endurance{};                       // of several runs together: none
  double unpaged_bytes = 0;                          // private and writable, but too small to page
};

// A folder whose files were to behave as if they lay on other storage. Over all processes; what the figures
// are: StorageTally.
struct StorageReport {
  std::string folder, profile, mode;
  double page_cache_bytes = 0;  // 0: it has none
  std::uint64_t reads = 0, writes = 0, read_bytes = 0, written_bytes = 0;
  std::uint64_t hit_pages = 0, missed_pages = 0, read_ahead_pages = 0;
  std::uint64_t device_reads = 0, device_read_pages = 0, device_writes = 0, device_written_pages = 0;
  std::uint64_t syncs = 0, commits = 0, shared_commits = 0;
  std::uint64_t waited_ns = 0, spun_ns = 0, slower = 0, slower_ns = 0, failed = 0;
  std::uint64_t mapped_bytes = 0, unseen_rings = 0, unseen_contexts = 0, told_requests = 0;
  std::uint64_t left_out = 0, resets = 0;
};

// How far walks ahead of the program came, and what ended them.
struct WalkReport {
  std::uint64_t walks = 0, instructions = 0;
  std::map<std::string, std::uint64_t> passed;    // of what, by kind
  std::map<std::string, std::uint64_t> ended_by;  // without those that went as far as they were to
};

// A stretch of the run in which delays were on, or off.
struct WindowReport {
  bool delays = false;
  double begin_seconds = 0;  // since the run began
  double seconds = 0;
  double progress = 0;   // of the program, in units of its own; 0: it told of none
  double measuring = 0;  // what part of its CPU time measuring took: in one with delays these make up for it
  double cpu_seconds = 0;  // of the program's threads, delays included
};

// Delays off and on in turn.
struct AlternationReport {
  double window_seconds = 0;  // as asked for; 0: delays were on throughout
  std::vector<WindowReport> windows;
  // The program's rate in windows without delays, had nothing been measured there, by that in those with:
  // each of these by the mean of its two neighbours. The median, and the quartiles. Nothing where there are
  // no three windows with progress.
  struct Slowdown {
    double median, lower, upper;
    std::uint64_t windows;  // with delays
  };
  std::optional<Slowdown> slowdown;
};

// What the run moved, and what kept it from moving more.
struct BandwidthReport {
  bool is_measured = false;  // somebody asked: for a target, or for the figures themselves
  std::string by;            // "governor", "thermal registers", "resctrl"; empty: nothing limits it
  std::string why;           // that, and what was not taken
  std::string
      counted_by;  // hardware counters that were to tell it: which, and what they leave out; else empty
  double read_bytes = 0, written_bytes = 0, held_ns = 0;
  // What was moved while it was held up, or else at its busiest: bytes per second. Nothing: too little was.
  std::optional<double> read_reached_bps, write_reached_bps;
  std::optional<double> error_relative_95;  // of the bytes
  std::string error_from;
  TrafficSeries::OverTime over_time;
};

struct RunReport {
  // Said by who ran it.
  std::vector<std::string> command;
  int exit_status = 0;
  double wall_seconds = 0;
  std::string source_name;          // "sampler", "pmu", "replay"; "none": it ran natively
  std::string source_design;        // of "pmu": whose events were counted, "Skylake-SP",
  std::string source_quality;       // and how far they can be relied on: "good", "fair", "rough"
  std::string source_why;           // "no hardware counters: perf_event_open: No such file or directory"
  std::string model;                // "stall"
  double base_read_latency_ns = 0;  // the base that delays were reckoned with
  double base_spread = 0;           // relative, of its measurement
  std::string target_profile;       // where it comes from a profile: its name
  Device target;                    // what is emulated, not what was asked for
  std::vector<std::string> warnings;

  // Read off the board.
  std::optional<double>
      counted_share;   // of CPU time, what hardware counters saw; nothing where none were used
  std::string ticker;  // "perf_event", "posix-timer", "none", "mixed"
  RunTotals totals;
  std::vector<PlaceReport> places;     // the most waited for first, some of them
  std::vector<TierReport> tiers;       // names, memories and rules are said by who ran it; empty: all is one
  MigrationReport migrations;          // `policy` is said by who ran it
  PersistReport persists;              // `is_emulated` and `native_ns` are said by who ran it
  PagingReport paging;                 // what it was asked for is said by who ran it
  std::vector<StorageReport> storage;  // folders, profiles and modes are said by who ran it
  WalkReport walks;
  AlternationReport alternation;  // `window_seconds` is said by who ran it
  BandwidthReport bandwidth;      // `is_measured`, `by` and `why` are said by who ran it
  std::vector<ProcessReport> processes;
  // Of the injected delay: half the width of the 95 % confidence interval. Nothing where nothing was
  // measured.
  std::optional<double> error_relative_95;
  std::string error_from;  // what that rests on, and what it leaves out
};

// Fills the second half of `report` from the board (the error and the base need the base at start), and
// appends a sentence to its warnings for each BoardWarning seen, with the number of processes concerned, and
// where nothing was measured.
void read_board(const Board& board, RunReport& report);

// Fills what the board has of `tiers`, `persists` and `places`; needs the processes and totals.
void read_memories(const Board& board, RunReport& report);

// Fills `paging` from the board, where something is paged; needs the processes.
void read_paging(const Board& board, RunReport& report);

// What is said of folders by who runs it,
std::vector<StorageReport> report_of_storage(const StoragePlan& plan);
// and the rest, from what the processes share.
void read_storage(const SharedStorage& storage, RunReport& report);

// Fills `bandwidth` from the board; needs the target.
void read_traffic(const Board& board, RunReport& report);

// Fills `alternation` from the board.
void read_alternation(const Board& board, RunReport& report);

std::optional<AlternationReport::Slowdown> slowdown_of(const std::vector<WindowReport>& windows);

// JSON, as design and docs/report.md describe; ends with a newline.
std::string to_json(const RunReport& report);

// Writes it; an error names the file and why.
Result<void> write_report(const RunReport& report, const OutputFile& file);
Result<void> write_report(const RunReport& report, const std::string& path);

// The few lines for people: base and target, delay injected, error, warnings. No colours.
std::string summary(const RunReport& report);

}  // namespace nvmemu
