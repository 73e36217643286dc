// SPDX-License-Identifier: Apache-2.0
// What a counter source delivers for one epoch of one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "counters/load_counts.h"
#include "counters/persist_counts.h"
#include "counters/traffic_counts.h"
#include "tier/tier.h"
#include "walk/walk_passed.h"

namespace nvmemu {

// What held retirement up when a sample was taken.
enum class StallKind : std::uint8_t {
  kLoad,     // a load, or a plain read-modify-write
  kStore,    // a store that no read goes with
  kLocked,   // an atomic read-modify-write
  kPersist,  // a cache-line flush or a fence
  kOther,    // anything else: computation, branches, code that cannot be decoded
};
inline constexpr std::size_t kStallKinds = 5;

// Reading memory is what loads and atomic read-modify-writes wait for; stores retire without waiting.
constexpr bool waits_for_reads(StallKind kind) {
  return kind == StallKind::kLoad || kind == StallKind::kLocked;
}
// A store is waited for when those before it, whose lines are being fetched, fill the store buffer; and a
// fence waits for these as well, where it is not for a persist.
constexpr bool waits_for_stores(StallKind kind) {
  return kind == StallKind::kStore || kind == StallKind::kPersist;
}
constexpr bool may_wait_for_memory(StallKind kind) { return waits_for_reads(kind) || waits_for_stores(kind); }

struct EpochCounts {
  double cpu_ns = 0;                          // CPU time that the epoch covers
  std::array<double, kStallKinds> held_ns{};  // time behind each kind of instruction, cache hits included
  double memory_stall_ns = 0;  // of loads, locked instructions, stores and fences: what waited for memory
  double unwalked_ns = 0;  // of that, what is taken for a part of what loads held that walks have not passed
  double miss_latency_ns = 0;        // what a load from memory took, as walks saw it; 0: not known
  ByTier<double> of_tier{1};         // of the misses in a row, how many were of each tier's: 1 in all
  double overhead_ns = 0;            // what measuring cost in this epoch,
  double interrupted_ns = 0;         // and of that the time in which the thread did not run its own code
  std::uint64_t samples = 0;         // samples of any kind
  std::uint64_t stall_samples = 0;   // of loads, locked instructions, and what waited for stores' lines
  std::uint64_t probes = 0;          // loads that walks have timed
  double sampling_variance_ns2 = 0;  // of memory_stall_ns, from the number of samples: adds over epochs
  double share_error_ns = 0;         // standard error from the walks' shares: the same in every epoch, so
                                     // it adds over epochs as it is
  LoadCounts loads;                  // of hardware counters; a sampler leaves them 0
  TrafficCounts traffic;             // all 0 where nothing measures it
  PersistCounts persists;            // that nobody told of: a sampler's estimate
  WalkPassed walked;  // what walks have passed of what the thread executes: to be taken as ratios

  // Of hardware counters, in user mode; 0 where nothing counts here.
  double counted_share = 0;  // of the epoch, what they saw: below 1 the counts are scaled up. 0: not counted
  double cycles = 0;         // of the core
  double stall_cycles = 0;   // as the processor's event has them: see counters/pmu/catalogue.h

  double held(StallKind kind) const { return held_ns[static_cast<std::size_t>(kind)]; }
};

}  // namespace nvmemu
