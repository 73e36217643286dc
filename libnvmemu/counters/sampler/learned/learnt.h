// SPDX-License-Identifier: Apache-2.0
// What has been learnt of a program's code, by all threads of a process and by the processes that it forks:
// a server's children live for milliseconds, and run the same code on the same data.
#pragma once

#include "counters/sampler/account/walked_samples.h"
#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/learned/loop_table.h"

namespace nvmemu {

// Zeros are a valid state, and what was learnt of nothing takes no memory.
struct Learnt {
  LoadTable loads;
  LoopTable loops;
  WalkedPool walked;

  // In memory that children of fork share, for the rest of the process; null where there is none to be had.
  static Learnt* create() noexcept;
};

}  // namespace nvmemu
