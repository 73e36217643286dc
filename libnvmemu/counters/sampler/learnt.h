// SPDX-License-Identifier: Apache-2.0
// What has been learnt of a program's code, by all threads of a process and by the processes that it forks:
// a server's children live for milliseconds, and run the same code on the same data.
#pragma once

#include <atomic>

#include "counters/sampler/account/walked_samples.h"
#include "counters/sampler/learned/gap_weights.h"
#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/learned/loop_table.h"
#include "counters/sampler/learned/memory_share.h"
#include "counters/sampler/probe/prober.h"

namespace nvmemu {

struct Learnt {
  LoadTable loads;
  LoopTable loops;
  GapWeights gaps;
  std::atomic<double> bursts{0}, burst_share_sum{0}, burst_square_sum{0};  // a SharePool
  WalkedPool walked;
  double disturbed = 0, disturbed_hit_ns = 0;  // see SharePool; set before the first thread begins

  // In memory that children of fork share, for the rest of the process; null where there is none to be had.
  static Learnt* create() noexcept;

  // Async-signal-safe, any thread of any of the processes.
  SharePool pool() const noexcept;
  void learn(const Burst& burst) noexcept;
};

}  // namespace nvmemu
