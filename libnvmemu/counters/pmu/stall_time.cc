// SPDX-License-Identifier: Apache-2.0
#include "counters/pmu/stall_time.h"

#include <algorithm>

namespace nvmemu {
namespace {

double local_and_remote(const RoleCounts& counts) noexcept {
  return counts[Role::kLocalDram] + counts[Role::kRemoteDram] + counts[Role::kLocalOther] +
         counts[Role::kRemoteOther];
}

// What memory's loads took together, ns, one after the other.
double memory_time_ns(const RoleCounts& counts, const LevelLatencies& latencies) noexcept {
  const double loads = memory_loads(counts);
  const double remote = std::min(loads, counts[Role::kRemoteDram] + counts[Role::kRemoteOther]);
  const double remote_ns = latencies.remote_memory_ns > 0 ? latencies.remote_memory_ns : latencies.memory_ns;
  return (loads - remote) * latencies.memory_ns + remote * remote_ns;
}

double part_of(double whole, double part, double rest) noexcept {
  return part + rest > 0 ? whole * part / (part + rest) : 0;
}

double overlap(const RoleCounts& counts) noexcept {
  if (counts[Role::kAnyInFlight] <= 0) return 1;
  return std::max(1.0, counts[Role::kInFlight] / counts[Role::kAnyInFlight]);
}

double uncapped(Formula formula, const RoleCounts& counts, const LevelLatencies& latencies,
                double cycles_per_ns) noexcept {
  const double memory_ns = memory_time_ns(counts, latencies);
  const double last_level_ns = last_level_hits(counts) * latencies.last_level_ns;
  switch (formula) {
    case Formula::kDirect:
      return counts[Role::kStall];
    case Formula::kWeighted:
      return part_of(counts[Role::kStall], memory_ns, last_level_ns);
    case Formula::kFillShare:
      return part_of(counts[Role::kStall], memory_ns,
                     last_level_ns + counts[Role::kInnerHit] * latencies.inner_ns);
    case Formula::kFillLatency:
      return memory_ns * cycles_per_ns / overlap(counts);
  }
  return 0;
}

}  // namespace

double memory_loads(const RoleCounts& counts) noexcept {
  return std::max(counts[Role::kMiss], local_and_remote(counts));
}

double last_level_hits(const RoleCounts& counts) noexcept {
  if (counts[Role::kHit] > 0) return counts[Role::kHit];
  return std::max(0.0, counts[Role::kReads] - counts[Role::kMiss]);
}

double memory_episodes(Formula formula, const RoleCounts& counts) noexcept {
  if (formula == Formula::kDirect) return counts[Role::kEpisodes];
  return part_of(counts[Role::kEpisodes], memory_loads(counts),
                 last_level_hits(counts) + counts[Role::kInnerHit]);
}

double memory_stall_cycles(Formula formula, const RoleCounts& counts, const LevelLatencies& latencies,
                           double cycles_per_ns) noexcept {
  const double cycles = std::max(0.0, uncapped(formula, counts, latencies, cycles_per_ns));
  return counts[Role::kCycles] > 0 ? std::min(cycles, counts[Role::kCycles]) : cycles;
}

}  // namespace nvmemu
