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
  double overlapped_latency_ns = 0;  // a step of four base chases at once, each of which makes a load
  double short_chase_ns = 0;         // the short chase that start-up repeats to follow drift (see refresh)
  double chase_bytes = 0;
  bool huge_pages = false;      // whether the base chase had huge pages
  double cache_latency_ns = 0;  // chase over a set that the last-level cache holds but the inner ones do not
  double probe_overhead_ns =
      0;  // a fenced, timed load that hits L1: what a probe reads when nothing is waited for
  double probe_threshold_ns = 0;    // a probe reading above this (overhead included) came from memory
  double trap_cost_ns = 0;          // of one breakpoint trap with its handler; 0: breakpoints are refused
  double sample_cost_ns = 0;        // of one sample of the perf_event ticker; 0: perf_event is refused
  double sample_stall_cost_ns = 0;  // of a sample and its share of the signals to a thread that waits for
                                    // memory, with what they displace from the caches
  double probe_latency_ns = 0;  // mean reading, less overhead, of probes of the base chase; 0: not measured
  double probe_next_latency_ns = 0;  // likewise, of what its loads are about to lead to; 0: not measured
  double probed_latency_ns = 0;      // what its loads took between those probes, less what samples cost
  double probe_overlapped_latency_ns = 0;   // the next-load reading, of four such chases at once,
  double probed_overlapped_latency_ns = 0;  // and their step between the probes; 0: not measured
  double probe_disturbed_share = 0;         // of probes of the cached chase, those that come from memory
  double timer_cost_ns = 0;       // of one tick of the POSIX-timer ticker, on top of the kernel's own
  double read_bandwidth_bps = 0;  // streaming sum, one core / all cores; bytes read per second
  double read_bandwidth_all_bps = 0;
  double copy_bandwidth_bps = 0;  // streaming copy: bytes read plus bytes written, as STREAM counts
  double copy_bandwidth_all_bps = 0;
  bool unstable = false;  // neighbours disturbed it: a spread over 10 %
};

// By what a load takes longer while others are under way, or shorter: where a load alone waits for page
// tables too, which others' loads hide. 1 where it was not measured.
double overlap_factor(const Calibration& calibration) noexcept;

// The same as probes see it: by what such a load takes longer than probes of it let expect, after what they
// read of one alone. Overlap_factor() where it was not measured.
double overlapped_reading_factor(const Calibration& calibration) noexcept;

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
