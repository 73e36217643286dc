// SPDX-License-Identifier: Apache-2.0
// Whether hardware counters count what they should: tried on work of which the answer is known. Many
// hypervisors show counters that count zeros, or other things. For tools (target nvmemu_pmu_self_test): it
// takes memory and some 50 ms.
#pragma once

#include "counters/pmu/event_group.h"
#include "counters/pmu/stall_time.h"
#include "counters/pmu/traffic_counters.h"
#include "counters/pmu/verdict.h"

namespace nvmemu {

// What was counted, and what of it is known.
struct Trial {
  RoleCounts counts;
  double cpu_ns = 0;
  double loads = 0;          // from memory, one after the other; 0: arithmetic only
  double counted_share = 0;  // see GroupDelta
};

// Lines that memory was asked for, or given, and what was counted of them.
struct TrafficTrial {
  TrafficCounts chase{}, stores{}, arithmetic{};
  double loads = 0;  // of the chase, a line each
  double lines = 0;  // stored to, all of which were in memory only
};

// How the answer may differ from what is known. A load is a miss, and its time a stall: what is lost to
// neighbours, page walks and the core's head start on the next load is well within these. Fills that are no
// loads (page walks, prefetches) may double the misses.
struct TrialBounds {
  double fewest_misses = 0.5, most_misses = 2;  // a load of the chase
  double least_stall = 0.5, most_stall = 1.1;   // of the chase's cycles
  double slowest_core = 0.3, fastest_core = 8;  // cycles a ns of CPU time
  double idle_misses = 0.05;                    // of arithmetic, in the chase's loads
  double idle_stall = 0.2;                      // of arithmetic's cycles
  double fewest_episodes = 0.3, most_episodes = 3;
  double fewest_read = 0.5, most_read = 4;        // lines, of the chase's loads: prefetchers take more
  double fewest_written = 0.2, most_written = 2;  // of the lines stored to: some are still in the L2
  double idle_traffic = 0.05;                     // of arithmetic, and of the chase's writes, in its loads
};

// The judgement alone: no processor, boot or design in it. `latencies`: of this machine, what is not known 0.
PmuVerdict judge(Formula formula, const LevelLatencies& latencies, const Trial& chase,
                 const Trial& arithmetic, bool counts_episodes, const TrialBounds& bounds = {});

// Whether what is moved is counted. Likewise.
bool judge_traffic(const TrafficTrial& trial, const TrialBounds& bounds = {});

// Opens the design's events, chases, computes, and judges. `last_level_ns`: what a load that the last-level
// cache answers takes; 0: taken as a quarter of memory's.
PmuVerdict run_self_test(const Microarchitecture& design, int numa_nodes, double last_level_ns,
                         EventGroup::Opener opener = open_event);

// The verdict that is kept, if the counters can be opened now, or a new one, which is kept where counts were
// judged. A processor of which nothing is known has one too.
PmuVerdict find_verdict(const Cpu& cpu, double last_level_ns);

}  // namespace nvmemu
