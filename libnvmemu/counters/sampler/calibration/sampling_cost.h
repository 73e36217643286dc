// SPDX-License-Identifier: Apache-2.0
// What sampling costs a thread that waits for memory: the interruptions and signals themselves, and what they
// displace from the caches (on a virtual machine the host's timer runs too, and takes page-table entries with
// it).
#pragma once

#include "base/clock.h"

namespace nvmemu {

// How the sampler uses the perf_event ticker where it injects: 1 kHz (it costs 2 to 4 %, which the ledger
// takes off the delays; 10 kHz would cost 15 % and more), and a signal every few samples, how often
// a walk can be taken.
inline constexpr double kSamplePeriodNs = 1e6;
inline constexpr unsigned kSamplesPerTick = 4;

// What measuring costs comes off the delays, and what it displaces from the program's caches can only be
// estimated; of a small delay, so much the more. Where less is added to a load than it takes here, measuring
// is cut down in proportion, to a quarter at least: what part of itself the delay may be wrong by grows as
// well. 1: in full. 0 < base_ns.
double sampling_effort(double base_ns, double target_ns) noexcept;

// ns of one sample with its share of the signals, from a pointer chase along `line`'s cycle (each line holds
// the address of the next, all from memory) that is timed alternately with and without sampling; the median
// of several. 0 where perf_event is refused. Takes SIGWINCH for the time being; about 1 s. Not thread-safe.
double measure_sampling_cost(const Clock& clock, const void* line);

}  // namespace nvmemu
