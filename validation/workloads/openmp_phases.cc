// SPDX-License-Identifier: Apache-2.0
#include "workloads/openmp_phases.h"

#include <omp.h>

#include "nvmemu/nvmemu.h"
#include "workloads/cpus.h"

namespace nvmemu::workloads {
namespace {

void barrier_phases(const OpenmpPhases& phases, std::span<Walker> walkers) {
#pragma omp parallel num_threads(phases.threads)
  {
    const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
    for (std::uint64_t phase = 0; phase < phases.phases; ++phase) {
      walkers[thread].walk(walk_loads(phases, thread));
#pragma omp barrier
    }
  }
}

void parallel_phases(const OpenmpPhases& phases, std::span<Walker> walkers) {
  for (std::uint64_t phase = 0; phase < phases.phases; ++phase) {
#pragma omp parallel num_threads(phases.threads)
    {
      const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
      walkers[thread].walk(walk_loads(phases, thread));
    }
  }
}

void for_phases(const OpenmpPhases& phases, std::span<Walker> walkers) {
#pragma omp parallel num_threads(phases.threads)
  for (std::uint64_t phase = 0; phase < phases.phases; ++phase) {
#pragma omp for schedule(dynamic)
    for (std::uint64_t item = 0; item < walkers.size(); ++item) walkers[item].walk(walk_loads(phases, item));
  }
}

}  // namespace

// Of an `omp for`: two items a thread; or, uneven, one for the first thread to come and two for each other.
// Which thread takes which differs from run to run, so the item, not the thread, has the walker.
std::uint64_t walk_count(const OpenmpPhases& phases) {
  if (phases.construct != OpenmpConstruct::kFor) return phases.threads;
  return phases.even ? 2 * phases.threads : 1 + 2 * (phases.threads - 1);
}

std::uint64_t walk_loads(const OpenmpPhases& phases, std::uint64_t index) {
  const bool items = phases.construct == OpenmpConstruct::kFor;
  if (phases.even) return items ? phases.loads / 2 : phases.loads;
  if (index == 0) return phases.loads;
  return items ? phases.loads / 4 : phases.loads / 2;
}

std::uint64_t critical_loads(const OpenmpPhases& phases) {
  const bool halves = phases.construct == OpenmpConstruct::kFor && phases.even;
  return phases.phases * (halves ? 2 * (phases.loads / 2) : phases.loads);
}

unsigned start_openmp_threads(unsigned threads) {
  const Cpus cpus;
  unsigned started = 0;
#pragma omp parallel num_threads(threads) reduction(+ : started)
  {
    cpus.place(static_cast<unsigned>(omp_get_thread_num()));
    nvmemu_settle();
    ++started;
  }
  return started;
}

void run_phases(const OpenmpPhases& phases, std::span<Walker> walkers) {
  switch (phases.construct) {
    case OpenmpConstruct::kBarrier:
      return barrier_phases(phases, walkers);
    case OpenmpConstruct::kParallel:
      return parallel_phases(phases, walkers);
    case OpenmpConstruct::kFor:
      return for_phases(phases, walkers);
  }
}

}  // namespace nvmemu::workloads
