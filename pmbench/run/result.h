// SPDX-License-Identifier: Apache-2.0
// What a run of pmbench found: all that is printed, written to files and compared afterwards. Plain data; the
// writers in output/ take it, the readers there give it back (as far as a file has it).
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "base/run_windows.h"
#include "measure/histogram.h"
#include "run/options.h"
#include "swap/delay_counts.h"
#include "swap/swap_request.h"

namespace nvmemu::pmbench {

struct Cache {
  std::string type;  // DCACHE, ICACHE, CACHE
  unsigned level = 0;
  std::uint64_t capacity_bytes = 0, sets = 0, line_bytes = 0, partitions = 1, ways = 0;
};

struct MachineInfo {
  std::string hostname, os_name, architecture, release;  // uname(2)
  std::string cpu_model;
  std::uint64_t tsc_khz = 0;  // 0: no TSC here
  std::vector<Cache> caches;
};

// /proc/meminfo (KiB) and /proc/vmstat, read by key; what the kernel does not tell is 0.
struct MemorySnapshot {
  std::string name;  // pre-warmup, pre-run, mid-run, post-run, post-unmap
  std::uint64_t free_kib = 0, buffer_kib = 0, cache_kib = 0, active_kib = 0, inactive_kib = 0;
  std::uint64_t pgpgin = 0, pgpgout = 0, pswpin = 0, pswpout = 0, pgmajfault = 0;
};

// One second of the run, over all threads.
struct SeriesPoint {
  double at_s = 0;  // since the start, at the second's end
  double seconds = 0;
  std::string phase;
  std::uint64_t accesses = 0;
  double p50_ns = 0, p99_ns = 0, max_ns = 0;
  std::uint64_t minor_faults = 0, major_faults = 0;  // of this process
  // Counters by key, as differences over the second where they count, else as they stand: vmstat.pswpin,
  // psi.memory.some_us, cgroup.memory.current, numa.node0.numa_miss, ...
  std::vector<std::pair<std::string, double>> counters;
};

// Accesses whose class was seen to happen (see measure/residency.h), a sample of all.
enum class AccessClass : std::uint8_t { kHit, kMinorFault, kMajorFault };
inline constexpr std::size_t kAccessClasses = 3;

struct ThreadResult {
  std::uint64_t accesses = 0;
  double loop_ns = 0;        // wall time of the timed loop, drawing pages and reading clocks included
  double generating_ns = 0;  // the part of it that drawing pages takes, as calibrated
  double overhead_ns = 0;    // per access, of drawing and timing
  std::uint64_t warmup_accesses = 0;
  double warmup_ns = 0;
  LatencyCounts reads, writes;
  std::array<LatencyCounts, kAccessClasses> classes;             // of the classed accesses only
  std::array<std::uint64_t, kAccessClasses> classed_resident{};  // of those, whose page was in memory before
  std::uint64_t minor_faults = 0, major_faults = 0;              // of the thread, in its loop (getrusage)
  std::uint64_t own_faults = 0;                                  // of those, by the benchmark's own metadata
  std::uint64_t migrations = 0;  // seen through TSC_AUX; 0 where the clock has none
};

struct RunResult {
  std::string version;  // "pmbench 1.0"
  std::vector<std::string> command;
  Options options;
  MachineInfo machine;
  std::tm started{};  // UTC
  std::string uuid;
  bool interrupted = false;
  double seconds = 0;             // of the timed part
  double initialize_seconds = 0;  // 0: was not asked for
  double clock_khz = 0;           // of the time stamps
  double timer_ns = 0;            // what two time stamps take with nothing between; already subtracted
  double timer_write_ns = 0;      // the same with the wait for a store, as around a write
  std::vector<ThreadResult> threads;
  std::vector<MemorySnapshot> snapshots;
  std::vector<SeriesPoint> series;
  std::uint64_t minor_faults = 0, major_faults = 0;  // of the process, over the timed part
  // Of the timed part, of --swap-device. All 0: its own speed was kept, it is slow by itself, or there was
  // none.
  DelayCounts swap;
  SwapTaken swap_taken;
  std::vector<RunWindow> windows;  // of `nvmemu run --alternate`; their progress is accesses
  std::vector<std::string> warnings;
  // Read from the original's XML, which has neither sums nor faults by class: latencies are its bands'
  // middles, faults of the process unknown, and the histograms, which are of all threads, with the first
  // thread.
  bool from_bands = false;
};

}  // namespace nvmemu::pmbench
