// SPDX-License-Identifier: Apache-2.0
// What probes read of loads whose latency is known: the calibration of the prober itself.
#pragma once

#include "base/clock.h"
#include "counters/sampler/prober.h"

namespace nvmemu {

struct KnownProbes {
  ProbeSums sums;
  double chase_ns = 0;  // what a load of the chase took between the bursts
};

// What bursts of one kind read on a pointer chase that starts at `line` (each line holds the address of the
// next): all zeros where breakpoints are refused. Takes SIGTRAP for the time being; about 1 s; and, for
// natural bursts, SIGURG. Not thread-safe.
//
// Natural bursts on a chase from memory read somewhat above what it takes a load, because a trap comes before
// each: the ratio of the two turns later readings into latencies. The chase is sampled meanwhile, as a
// program is (240 ns where it takes 212; without samples, up to 300, the less the more often bursts come).
// Share bursts on a chase that a cache holds tell how many of its lines the traps' pauses cost it.
KnownProbes probe_known_chase(const Clock& clock, const ProbeScale& scale, const void* line, BurstKind kind);

}  // namespace nvmemu
