// SPDX-License-Identifier: Apache-2.0
// Latency models: pure functions from an epoch's counts and two memories to a delay. Thread- and signal-safe.
#pragma once

#include "counters/counts.h"

namespace nvmemu {

// The two ends of an emulation: what a dependent load from memory takes here, and what it shall take. ns, >
// 0.
struct ReadLatency {
  double base_ns;
  double target_ns;
};

// The stall model, after equation 2 of Sengupta et al., "A Framework for Emulating Non-Volatile Memory
// Systems with Different Performance Characteristics" (2015): delay = stall / latency * (target - base), with
// stall / latency the number of misses in a row. The paper takes the base for the latency; where the source
// knows what the program's own misses take (miss_latency_ns), that is used. Stall time already has
// memory-level parallelism in it. ns, >= 0; 0 where the target is not above the base.
double stall_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept;

}  // namespace nvmemu
