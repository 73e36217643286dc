// SPDX-License-Identifier: Apache-2.0
// The threads of a run: each makes its own memory, warms the set up, waits for the others, then accesses
// until it is told to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "measure/access_loop.h"
#include "memory/numa_policy.h"
#include "pattern/pattern.h"
#include "run/result.h"

namespace nvmemu::pmbench {

struct WorkerPhase {
  PatternRequest pattern;  // its `thread` is filled in
  std::uint64_t warm_up_accesses = 0;
};

class Workers {
 public:
  // The patterns of all phases must be valid; at least one phase.
  Workers(const LoopSettings& settings, std::vector<WorkerPhase> phases, Affinity affinity, unsigned threads,
          bool warm_up);
  ~Workers();  // stops them
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // All have warmed up, and wait.
  bool are_ready() const noexcept { return ready_.load() == threads_.size(); }

  // Lets them access, by the pattern of phase 0; goes on to that of another phase.
  void set_phase(std::uint32_t phase) noexcept;
  void stop() noexcept;  // returns when all are done with the access that they are at

  // While they run.
  std::uint64_t accesses() const noexcept;
  std::array<std::uint32_t, Buckets::kCount> counters() const noexcept;

  // After stop(): one a thread. And when the first began and the last ended, by CLOCK_MONOTONIC_RAW.
  std::vector<ThreadResult> results() const;
  double seconds() const noexcept;
  std::vector<std::string> warnings() const;

 private:
  struct Worker;
  void work(Worker& worker);

  static constexpr std::uint32_t kWarmUp = kStop - 1;

  LoopSettings settings_;
  std::vector<WorkerPhase> phases_;
  Affinity affinity_;
  bool warm_up_;
  LoopControl control_{kWarmUp};
  std::atomic<std::size_t> ready_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace nvmemu::pmbench
