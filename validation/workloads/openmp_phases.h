// SPDX-License-Identifier: Apache-2.0
// Phases of OpenMP threads that wait for each other at the end of each.
#pragma once

#include <cstdint>
#include <span>

#include "workloads/walker.h"

namespace nvmemu::workloads {

// By what the threads wait: `omp barrier` in one parallel region, the end of a parallel region a phase, the
// end of an `omp for` with schedule(dynamic).
enum class OpenmpConstruct { kBarrier, kParallel, kFor };

struct OpenmpPhases {
  OpenmpConstruct construct = OpenmpConstruct::kBarrier;
  bool even = true;  // else one thread has twice as much to do in a phase as any other
  unsigned threads = 2;
  std::uint64_t loads = 1000;  // of the thread that has most to do in a phase
  std::uint64_t phases = 5000;
};

// The walks of a phase, by what they come to: a walk a thread, or an item of the `omp for`.
std::uint64_t walk_count(const OpenmpPhases& phases);
std::uint64_t walk_loads(const OpenmpPhases& phases, std::uint64_t index);

// However the construct and the balance are chosen, a phase takes as long as `loads`, or as the two halves
// that they are cut into.
std::uint64_t critical_loads(const OpenmpPhases& phases);

// Starts the threads, places each on a processor, and settles in it. How many there are: less than asked for
// where OpenMP is told so.
unsigned start_openmp_threads(unsigned threads);

// One walker a walk.
void run_phases(const OpenmpPhases& phases, std::span<Walker> walkers);

}  // namespace nvmemu::workloads
