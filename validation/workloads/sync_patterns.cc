// SPDX-License-Identifier: Apache-2.0
#include "workloads/sync_patterns.h"

#include <array>

#include "workloads/process_patterns.h"
#include "workloads/thread_patterns.h"

namespace nvmemu::workloads {
namespace {

// How many turns `tasks` of the same length take that are dealt to the processors one by one, and stay there.
std::uint64_t turns(unsigned tasks, unsigned cpus) { return (tasks + cpus - 1) / cpus; }

// The mutex is never free: whoever releases it is back, after half a step, before the other's step ends. What
// the last one does after releasing it comes on top. A thread that has waited longer also takes longer to
// wake, and finds less in the caches, whatever it waited for: on a 2-vCPU guest a turn of 1000 loads (310 us)
// that computed for 300 us more took 385 us longer. Hence the long usual steps.
std::uint64_t lock_loads(const Steps& steps, unsigned /*cpus*/) {
  return 2 * steps.rounds * steps.loads + steps.loads / 2;
}

// The producer never waits, since the consumer takes half as long; the last item's consumption comes on top.
std::uint64_t queue_loads(const Steps& steps, unsigned /*cpus*/) {
  return steps.rounds * steps.loads + steps.loads / 2;
}

// The slower thread's phases; one thread's steps.
std::uint64_t barrier_loads(const Steps& steps, unsigned /*cpus*/) { return steps.rounds * steps.loads; }

// The threads run in lockstep. Writing excludes reading, so nobody writes before both have read, and then
// both write, one after the other: the second one waits for it by the time that the first one ends, and goes
// before the first one's next reading. So both start to read together again. Each round wakes a thread three
// times on the critical path, tens of microseconds each in a virtual
// machine: hence the long usual steps.
std::uint64_t rwlock_loads(const Steps& steps, unsigned /*cpus*/) {
  return steps.rounds * (steps.loads + 2 * (steps.loads / 8));
}

// The second stage, of weight 4, never waits but for the first item. What the first stage does to that one,
// and those after the second to the last one, comes on top. It has a processor to itself; on two, the other
// three stages share one, on which they take 3 for its 4. On one all stages share it.
std::uint64_t pipeline_loads(const Steps& steps, unsigned cpus) {
  return cpus == 1 ? steps.rounds * 7 * steps.loads : (steps.rounds * 4 + 3) * steps.loads;
}

// In each round the children take turns on the processors.
std::uint64_t fork_loads(const Steps& steps, unsigned cpus) {
  return steps.rounds * turns(kForkedChildren, cpus) * steps.loads;
}

std::uint64_t oversubscribed_loads(const Steps& steps, unsigned cpus) {
  return turns(kOversubscribedThreads, cpus) * steps.rounds * steps.loads;
}

constexpr auto kPatterns = std::to_array<SyncPattern>({
    {"lock", "two threads pass a mutex to and fro", 2, {5000, 500}, &lock_loads, &run_lock},
    {"condition",
     "a producer and a consumer at a queue with condition variables",
     2,
     {1000, 5000},
     &queue_loads,
     &run_condition},
    {"pipe", "a producer and a consumer that it forked, at a pipe", 2, {1000, 5000}, &queue_loads, &run_pipe},
    {"barrier",
     "phases of two threads, of which one has nothing to do",
     2,
     {1000, 5000},
     &barrier_loads,
     &run_barrier},
    {"barrier-both",
     "phases of two threads, of which one has half as much to do",
     2,
     {1000, 5000},
     &barrier_loads,
     &run_barrier_both},
    {"rwlock",
     "two threads that read together and write apart",
     2,
     {32'000, 125},
     &rwlock_loads,
     &run_rwlock},
    {"pipeline",
     "four threads in a row with queues between them, the second the slowest",
     kPipelineStages,
     {1000, 1250},
     &pipeline_loads,
     &run_pipeline},
    {"fork",
     "a server that forks eight children a round",
     kForkedChildren,
     {100'000, 12},
     &fork_loads,
     &run_fork},
    {"errands",
     "threads one after the other, each of which ends with its step",
     1,
     {2500, 2000},
     &barrier_loads,
     &run_errands},
    {"oversubscribed",
     "four threads that do not wait for each other, but for a processor",
     kOversubscribedThreads,
     {1000, 2500},
     &oversubscribed_loads,
     &run_oversubscribed},
});

}  // namespace

const std::span<const SyncPattern> kSyncPatterns(kPatterns);

}  // namespace nvmemu::workloads
