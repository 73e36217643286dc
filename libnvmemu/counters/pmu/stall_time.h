// SPDX-License-Identifier: Apache-2.0
// From counts to the time that loads waited for memory. Pure functions: thread- and async-signal-safe.
#pragma once

#include <array>

#include "counters/pmu/catalogue.h"

namespace nvmemu {

// What was counted, by role; what was not is 0. Doubles, for shared counters are scaled.
class RoleCounts {
 public:
  double& operator[](Role role) noexcept { return counts_[static_cast<std::size_t>(role)]; }
  double operator[](Role role) const noexcept { return counts_[static_cast<std::size_t>(role)]; }

 private:
  std::array<double, kRoles> counts_{};
};

// What one load takes from each level, ns; all > 0 but the last.
struct LevelLatencies {
  double memory_ns = 0;
  double last_level_ns = 0;
  double inner_ns = 4;          // 12 to 15 cycles on every core of the catalogue
  double remote_memory_ns = 0;  // 0: as memory's
};

// Loads that came from memory: from wherever they were counted.
double memory_loads(const RoleCounts& counts) noexcept;

// Loads that the last-level cache answered. Arm counts all that get there, the others these.
double last_level_hits(const RoleCounts& counts) noexcept;

// Uninterrupted waits for memory. Where the stall event counts waits for a cache too, those of memory have
// its part of the loads that were waited for.
double memory_episodes(Formula formula, const RoleCounts& counts) noexcept;

// Core cycles that loads waited for memory, >= 0, and no more than there were where `counts` has them:
//
//   direct        the stall event alone (Skylake and later)
//   weighted      S * W M / (H + W M), S: stalls behind L2 misses, M and H: misses and hits of the last-level
//                 cache, W: how much longer a miss takes. Volos et al., "Quartz" (2015), section 3.2; the
//                 weight 7 in Intel's top-down tables is W of their machines.
//   fill-share    S * F_mem t_mem / (F_L2 t_L2 + F_L3 t_L3 + F_mem t_mem), F: lines filled from there, t:
//   what
//                 one takes (Zen 4 and 5; the same reasoning, carried over)
//   fill-latency  F_mem t_mem / P, P: misses in flight at once where that is counted, else 1
//
// `cycles_per_ns`: the core's clock, which the last formula needs.
double memory_stall_cycles(Formula formula, const RoleCounts& counts, const LevelLatencies& latencies,
                           double cycles_per_ns) noexcept;

}  // namespace nvmemu
