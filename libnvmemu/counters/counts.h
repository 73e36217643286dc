// SPDX-License-Identifier: Apache-2.0
// What a counter source delivers for one epoch of one thread.
#pragma once

#include "counters/persist_counts.h"
#include "counters/quantities.h"
#include "counters/traffic_counts.h"
#include "tier/tier.h"
#include "walk/walk_passed.h"

namespace nvmemu {

// A source leaves what it does not count 0; `epochs`, delays and injections are not its own.
struct EpochCounts : Quantities {
  ByTier<double> of_tier{1};  // of the misses in a row, how many were of each tier's: 1 in all
  ByTier<ByStallKind<double>> tier_stall_ns{};  // of stall_ns, as far as it is known whose it is
  TrafficCounts traffic;                        // all 0 where nothing measures it
  PersistCounts persists;                       // that nobody told of: a sampler's estimate
  WalkPassed walked;  // what walks have passed of what the thread executes: to be taken as ratios

  // Of hardware counters, in user mode; 0 where nothing counts here.
  double cycles = 0;        // of the core
  double stall_cycles = 0;  // as the processor's event has them: see counters/pmu/catalogue.h

  // What a load from memory took, as walks saw it; 0: not known.
  double miss_latency_ns() const { return misses_in_a_row > 0 ? stall_ns / misses_in_a_row : 0; }
  // Of the epoch, what hardware counters saw: below 1 the counts are scaled up. 0: not counted.
  double counted_share() const { return cpu_ns > 0 ? counted_ns / cpu_ns : 0; }
};

}  // namespace nvmemu
