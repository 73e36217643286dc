// SPDX-License-Identifier: Apache-2.0
#include "workloads/thread_patterns.h"

#include <pthread.h>

#include <array>
#include <deque>
#include <functional>
#include <thread>

#include "workloads/bounded_queue.h"
#include "workloads/stopwatch.h"
#include "workloads/team.h"

namespace nvmemu::workloads {
namespace {

constexpr std::size_t kQueueCapacity = 4;

// One thread a walker, `work` once on each, timed from when all are ready until the last has ended. One
// member more keeps the time, asleep while the others work.
Result<SyncOutcome> run_threads(unsigned threads, const WalkerMemory& memory, const Cpus& cpus,
                                const std::function<void(Walker& walker, unsigned thread)>& work,
                                const std::function<unsigned(unsigned thread)>& cpu_of = std::identity()) {
  auto walkers = create_walkers(threads, memory);
  if (!walkers) return tl::unexpected<Error>(walkers.error());
  SyncOutcome outcome{};
  Team::run(threads + 1, [&](Team& team, unsigned thread) {
    if (thread < threads) cpus.place(cpu_of(thread));
    team.meet();
    if (thread == threads) {
      const Stopwatch stopwatch;
      team.meet();  // nobody works before the time is taken
      team.meet();
      outcome.ns = stopwatch.stop_ns();
    } else {
      team.meet();
      work((*walkers)[thread], thread);
      team.meet();
    }
  });
  outcome.checksum = checksum(*walkers);
  outcome.huge_pages = walkers->front().has_huge_pages();
  return outcome;
}

// POSIX's own barrier: what C programs use, where std::barrier may spin.
class PhaseBarrier {
 public:
  explicit PhaseBarrier(unsigned threads) { pthread_barrier_init(&barrier_, nullptr, threads); }
  ~PhaseBarrier() { pthread_barrier_destroy(&barrier_); }
  PhaseBarrier(const PhaseBarrier&) = delete;
  PhaseBarrier& operator=(const PhaseBarrier&) = delete;

  void wait() { pthread_barrier_wait(&barrier_); }

 private:
  pthread_barrier_t barrier_;
};

// glibc's default kind lets readers overtake a waiting writer: two that hardly ever stop reading could keep
// both from writing, for a time that no formula gives.
class WriterFirstLock {
 public:
  WriterFirstLock() {
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock_, &attributes);
    pthread_rwlockattr_destroy(&attributes);
  }
  ~WriterFirstLock() { pthread_rwlock_destroy(&lock_); }
  WriterFirstLock(const WriterFirstLock&) = delete;
  WriterFirstLock& operator=(const WriterFirstLock&) = delete;

  void lock_shared() { pthread_rwlock_rdlock(&lock_); }
  void lock() { pthread_rwlock_wrlock(&lock_); }
  void unlock() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};

// Each thread makes `loads` / divisor loads a phase, none where the divisor is 0.
Result<SyncOutcome> run_phases(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus,
                               std::array<std::uint64_t, 2> divisors) {
  PhaseBarrier barrier(2);
  return run_threads(2, memory, cpus, [&](Walker& walker, unsigned thread) {
    const std::uint64_t loads = divisors[thread] == 0 ? 0 : steps.loads / divisors[thread];
    for (std::uint64_t phase = 0; phase < steps.rounds; ++phase) {
      walker.walk(loads);
      barrier.wait();
    }
  });
}

}  // namespace

Result<SyncOutcome> run_lock(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  return run_threads(2, memory, cpus, [&](Walker& walker, unsigned) {
    for (std::uint64_t round = 0; round < steps.rounds; ++round) {
      pthread_mutex_lock(&mutex);
      walker.walk(steps.loads);
      pthread_mutex_unlock(&mutex);
      // Long enough for the other to wake and take the mutex: unlocking does not hand it over.
      walker.walk(steps.loads / 2);
    }
  });
}

Result<SyncOutcome> run_condition(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  BoundedQueue<std::uint64_t> queue(kQueueCapacity);
  return run_threads(2, memory, cpus, [&](Walker& walker, unsigned thread) {
    for (std::uint64_t item = 0; item < steps.rounds; ++item) {
      if (thread == 0) {
        walker.walk(steps.loads);
        queue.push(item);
      } else {
        queue.pop();
        walker.walk(steps.loads / 2);
      }
    }
  });
}

Result<SyncOutcome> run_barrier(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  return run_phases(memory, steps, cpus, {1, 0});
}

Result<SyncOutcome> run_barrier_both(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  return run_phases(memory, steps, cpus, {1, 2});
}

Result<SyncOutcome> run_rwlock(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  WriterFirstLock lock;
  return run_threads(2, memory, cpus, [&](Walker& walker, unsigned) {
    for (std::uint64_t round = 0; round < steps.rounds; ++round) {
      lock.lock_shared();
      walker.walk(steps.loads);
      lock.unlock();
      lock.lock();
      walker.walk(steps.loads / 8);
      lock.unlock();
    }
  });
}

Result<SyncOutcome> run_pipeline(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  constexpr std::array<std::uint64_t, kPipelineStages> kWeights = {1, 4, 1, 1};
  constexpr unsigned kSlowest = 1;
  std::deque<BoundedQueue<std::uint64_t>> queues;  // the one before each stage but the first
  for (unsigned stage = 1; stage < kPipelineStages; ++stage) queues.emplace_back(kQueueCapacity);
  const auto work = [&](Walker& walker, unsigned stage) {
    for (std::uint64_t item = 0; item < steps.rounds; ++item) {
      if (stage > 0) queues[stage - 1].pop();
      walker.walk(steps.loads * kWeights[stage]);
      if (stage + 1 < kPipelineStages) queues[stage].push(item);
    }
  };
  // The slowest stage has a processor to itself, as long as there are two; the others share the rest.
  const auto cpu_of = [&](unsigned stage) {
    if (stage == kSlowest || cpus.count() == 1) return 0U;
    return 1 + (stage < kSlowest ? stage : stage - 1) % (cpus.count() - 1);
  };
  return run_threads(kPipelineStages, memory, cpus, work, cpu_of);
}

Result<SyncOutcome> run_errands(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  return run_threads(1, memory, cpus, [&](Walker& walker, unsigned) {
    for (std::uint64_t round = 0; round < steps.rounds; ++round)
      std::thread([&] { walker.walk(steps.loads); }).join();
  });
}

Result<SyncOutcome> run_oversubscribed(const WalkerMemory& memory, const Steps& steps, const Cpus& cpus) {
  return run_threads(kOversubscribedThreads, memory, cpus, [&](Walker& walker, unsigned) {
    for (std::uint64_t round = 0; round < steps.rounds; ++round) walker.walk(steps.loads);
  });
}

}  // namespace nvmemu::workloads
