// SPDX-License-Identifier: Apache-2.0
// What was measured of this machine's memory, and where that is kept. The measuring itself is in calibrate.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nvmemu {

// Every latency is of one dependent load, in ns unless said otherwise. Spreads are (largest - smallest) /
// median of the repetitions. All zeros: not measured.
struct Calibration {
  std::string cpu_model;       // what it is valid for: this processor,
  std::string boot_id;         // and this boot of the machine
  double clock_hz = 0;         // Clock::hz() then
  double base_latency_ns = 0;  // chase over `chase_bytes` in huge pages, every load from memory
  double base_latency_spread = 0;
  double small_page_latency_ns = 0;  // the same chase in 4 KiB pages: the difference is the TLB's cost
  double short_chase_ns = 0;         // the short chase that start-up repeats to follow drift (see refresh)
  double chase_bytes = 0;
  bool huge_pages = false;      // whether the base chase had huge pages
  double cache_latency_ns = 0;  // chase over a set that the last-level cache holds but the inner ones do not
  double timing_overhead_ns = 0;   // a fenced, timed load that hits L1: what one reads that waits for nothing
  double memory_threshold_ns = 0;  // a timed load that reads more (overhead included) came from memory
  double sample_cost_ns = 0;       // of one sample of the perf_event ticker; 0: perf_event is refused
  double sample_stall_cost_ns = 0;  // of a sample and its share of the signals to a thread that waits for
                                    // memory, with what they displace from the caches
  double timer_cost_ns = 0;         // of one tick of the POSIX-timer ticker, on top of the kernel's own
  double walked_miss_ns = 0;        // what a load from memory takes as walks time it; 0: nothing is walked
  double native_miss_ns = 0;        // and natively, in the same moments: the base may be of others
  double loaded_ratio = 0;          // how much longer than walked loads take natively, twelve at a time
  double walked_step_ns = 0;        // of a walk, for each instruction that waits for no memory
  double walk_begin_ns = 0;         // and for its beginning
  double window_instructions = 0;   // that the core holds while a load waits; 0: not known
  double waiting_instructions = 0;  // and how many of them may wait for others' results
  double parallel_misses = 0;       // loads that wait for memory at a time; 0: not known
  double persist_latency_ns = 0;    // storing to a line, flushing it and a fence; 0: there is no flush
  double read_bandwidth_bps = 0;    // streaming sum, one core / all cores; bytes read per second
  double read_bandwidth_all_bps = 0;
  double copy_bandwidth_bps = 0;  // streaming copy: bytes read plus bytes written, as STREAM counts
  double copy_bandwidth_all_bps = 0;
  bool unstable = false;  // neighbours disturbed it: a spread over 10 %
};

// "key = value" lines, a subset of TOML; unknown keys are ignored, missing and malformed ones are errors that
// name the key.
std::string serialize(const Calibration& calibration);
Result<Calibration> parse_calibration(std::string_view text);

// $XDG_CACHE_HOME/nvmemu (or ~/.cache/nvmemu, or /tmp/nvmemu-UID where there is no home) / calibration-<hash
// of CPU model>.toml. The stored one is returned only where CPU model and boot id are today's.
std::string calibration_path();
Result<Calibration> load_calibration(const std::string& path);
Result<void> store_calibration(const Calibration& calibration, const std::string& path);

}  // namespace nvmemu
