// SPDX-License-Identifier: Apache-2.0
// Latency models: pure functions from an epoch's counts and two memories to a delay. Thread- and signal-safe.
// When each is right, and when not: docs/models.md.
#pragma once

#include "counters/counts.h"

namespace nvmemu {

// The two ends of an emulation: what a dependent load from memory takes here, and what it shall take; and
// what some models need beside them. ns, > 0; 0: not known.
struct ReadLatency {
  double base_ns;
  double target_ns;
  double cache_ns = 0;              // of a hit in the last-level cache, here
  double remote_ns = 0;             // of a load from another node's memory, here
  ByTier<double> tier_target_ns{};  // of the tiers above 0, where there are any

  double target_of(std::size_t tier) const noexcept { return tier == 0 ? target_ns : tier_target_ns[tier]; }
};

// All of these give ns, >= 0: 0 where no target is above the base, or where what they need is not known.
// Target: the mean over the epoch's misses, by tier (EpochCounts::of_tier), of which each counts as at least
// the base.
using DelayModel = double (*)(const EpochCounts& counts, const ReadLatency& latency) noexcept;

// The miss model, equation 1 of Sengupta et al., "A Framework for Emulating Non-Volatile Memory Systems with
// Different Performance Characteristics" (2015): misses * (target - base).
double misses_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

// The stall model, after equation 2 of that paper: delay = stall / latency * (target - base), with stall /
// latency the number of misses in a row. The paper takes the base for the latency; where the source knows
// how many misses the program has waited for (misses_in_a_row), that is used. Stall time already has
// memory-level parallelism in it.
double stall_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

// The stall model where only stalls of the last-level cache and of memory together are counted (Intel before
// Skylake; Volos et al., "Quartz", 2015): memory's part is stall * W * misses / (hits + W *
// misses), where W = base / cache latency. Needs cache_ns.
double weighted_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

// The stall model where only the memory of other nodes is emulated, and the thread's own stays as it is
// (Quartz with two memories): remote memory's part is stall * remote * remote_ns / (remote * remote_ns +
// local * base), at remote_ns a miss, each of which shall take the target. Needs remote_ns.
double remote_share_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

// The episode model: episodes * (target - base). What is hidden of each wait does not matter to it.
double episodes_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

}  // namespace nvmemu
