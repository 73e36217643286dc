// SPDX-License-Identifier: Apache-2.0
// What probes read of loads whose latency is known: the calibration of the prober itself.
#pragma once

#include "base/clock.h"
#include "counters/sampler/probe/prober.h"
#include "host/chase_buffer.h"

namespace nvmemu {

// Both on a pointer chase that starts at `line` (each line holds the address of the next). They take SIGTRAP
// for the time being. All zeros where breakpoints are refused. Not thread-safe.

// What share bursts read on a chase that a cache holds: how many of its lines the traps' pauses cost it.
// About 1 s.
ProbeSums probe_cached_chase(const Clock& clock, const ProbeScale& scale, const void* line);

struct KnownLatencies {
  double probed_ns = 0;           // a natural reading of a load of the chase,
  double probed_next_ns = 0;      // one of the load after it,
  double chase_ns = 0;            // and what its loads take between the bursts
  double probed_together_ns = 0;  // a reading of the load after one of four chases at once,
  double together_ns = 0;         // and a step of theirs
};

// What natural bursts read on a chase from memory; it is sampled meanwhile, as a program is, because the
// readings depend on it (240 ns where it takes 212; without samples, up to 300, the less the more often
// bursts come). Bursts of each kind come in turns, and stretches of the chase that take over a quarter more
// than the median one do not count, nor do the bursts after them: with neighbours that change within seconds,
// the ratio of readings to latency, which is what they are for, would be of two different moments. About 8 s.
// Takes SIGWINCH too.
KnownLatencies probe_chase(const Clock& clock, const ProbeScale& scale, const ChasePlaces& places);

}  // namespace nvmemu
