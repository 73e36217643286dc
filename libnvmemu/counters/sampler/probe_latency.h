// SPDX-License-Identifier: Apache-2.0
// What probes read of loads whose latency is known: the calibration of the prober itself.
#pragma once

#include "base/clock.h"
#include "counters/sampler/prober.h"

namespace nvmemu {

// The mean reading, in ns less the overhead, of natural bursts on a pointer chase that starts at `line` (each
// line holds the address of the next, all from memory). It is somewhat above what the chase itself takes a
// load, because a trap comes before each; the ratio of the two turns later readings into latencies. 0 where
// breakpoints are refused. Takes SIGTRAP for the time being; about 0.3 s. Not thread-safe.
double measure_probe_latency(const Clock& clock, const ProbeScale& scale, const void* line);

}  // namespace nvmemu
