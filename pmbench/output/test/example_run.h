// SPDX-License-Identifier: Apache-2.0
// Runs as they might have been, small enough to work out by hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "run/result.h"

namespace nvmemu::pmbench {

// `times` accesses of `ns` each.
inline void record(LatencyCounts& counts, std::uint64_t ns, std::uint64_t times = 1) {
  if (times == 0) return;
  counts.min_ns = counts.count == 0 ? ns : std::min(counts.min_ns, ns);
  counts.max_ns = std::max(counts.max_ns, ns);
  counts.counts[Buckets::index(ns)] += times;
  counts.count += times;
  counts.sum_ns += ns * times;
}

inline ThreadResult example_thread(std::uint64_t accesses_each) {
  ThreadResult thread;
  thread.accesses = 4 * accesses_each;
  record(thread.reads, 100, accesses_each);        // hits
  record(thread.reads, 9231, accesses_each);       // the paper's example: 3rd of 16 from 8192 ns
  record(thread.writes, 300, accesses_each);       // the third sub-band from 256 ns
  record(thread.writes, 12000001, accesses_each);  // above 2^23 ns
  const double sum_ns = static_cast<double>(thread.reads.sum_ns + thread.writes.sum_ns);
  thread.generating_ns = 50.0 * static_cast<double>(thread.accesses);
  thread.loop_ns = sum_ns + thread.generating_ns;
  thread.overhead_ns = 50;
  thread.warmup_accesses = 1000;
  thread.warmup_ns = 2e6;
  record(thread.classes[0], 100, 2);
  record(thread.classes[2], 9231, 1);
  thread.minor_faults = 7;
  thread.major_faults = accesses_each;
  thread.own_faults = 1;
  thread.migrations = 2;
  return thread;
}

inline MemorySnapshot example_snapshot(std::string name, std::uint64_t major_faults) {
  MemorySnapshot snapshot;
  snapshot.name = std::move(name);
  snapshot.free_kib = 1000000 - major_faults;
  snapshot.buffer_kib = 2000;
  snapshot.cache_kib = 30000;
  snapshot.active_kib = 400000;
  snapshot.inactive_kib = 50000;
  snapshot.pgpgin = 600000;
  snapshot.pgpgout = 7000;
  snapshot.pswpin = 800 + major_faults;
  snapshot.pswpout = 90;
  snapshot.pgmajfault = major_faults;
  return snapshot;
}

inline Options example_options() {
  Options options;
  options.duration_s = 5;
  options.jobs = 2;
  options.initialize = true;
  Phase phase;
  phase.seconds = 5;
  options.phases = {phase};
  return options;
}

inline MachineInfo example_machine() {
  MachineInfo machine;
  machine.hostname = "host";
  machine.os_name = "Linux";
  machine.architecture = "x86_64";
  machine.release = "6.1.0";
  machine.cpu_model = "A processor";
  machine.tsc_khz = 2000000;
  machine.caches = {{"DCACHE", 1, 32768, 64, 64, 1, 8}, {"CACHE", 2, 1048576, 1024, 64, 1, 16}};
  return machine;
}

inline SeriesPoint example_point(double at_s, const char* phase, std::uint64_t accesses) {
  SeriesPoint point;
  point.at_s = at_s;
  point.seconds = 1;
  point.phase = phase;
  point.accesses = accesses;
  point.p50_ns = 150;
  point.p99_ns = 9e3;
  point.max_ns = 12e6;
  point.minor_faults = 3;
  point.major_faults = 500;
  point.counters = {{"vmstat.pswpin", 500.0}, {"psi.memory.some_us", 12.5}};
  return point;
}

// Two threads, 100 and 200 of each access.
inline RunResult example_run() {
  RunResult result;
  result.version = "pmbench 1.0";
  result.command = {"pmbench", "-j", "2", "-i", "5"};
  result.options = example_options();
  result.machine = example_machine();
  result.started.tm_year = 126;
  result.started.tm_mon = 0;
  result.started.tm_mday = 31;
  result.started.tm_hour = 12;
  result.started.tm_min = 34;
  result.started.tm_sec = 56;
  result.started.tm_wday = 6;
  result.started.tm_yday = 30;
  result.uuid = "01234567-89ab-cdef-0123-456789abcdef";
  result.seconds = 5.001;
  result.initialize_seconds = 0.0425;
  result.clock_khz = 2000000;
  result.timer_ns = 21.5;
  result.threads = {example_thread(100), example_thread(200)};
  result.snapshots = {example_snapshot("pre-warmup", 10), example_snapshot("pre-run", 20),
                      example_snapshot("mid-run", 150), example_snapshot("post-run", 325),
                      example_snapshot("post-unmap", 326)};
  result.series = {example_point(1, "uniform", 600), example_point(2, "zipf", 900)};
  result.minor_faults = 40;
  result.major_faults = 300;
  result.swap = {.reads = 40,
                 .writes = 50,
                 .read_pages = 41,
                 .written_pages = 51,
                 .read_ns = 5000,
                 .write_ns = 6000,
                 .overdue = 3,
                 .late_p95_ns = 128};
  result.swap_taken = {.kind = "zram", .device = "/dev/zram0", .held_by = "bpf", .why_not_null_block = "no"};
  result.warnings = {"the clock is not sure"};
  return result;
}

}  // namespace nvmemu::pmbench
