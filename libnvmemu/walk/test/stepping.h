// SPDX-License-Identifier: Apache-2.0
// The truth about a walk: the processor itself, one instruction at a time.
#pragma once

#include <cstddef>
#include <string>

#include "walk/decode/micro_op.h"

namespace nvmemu {

struct SteppedWalk {
  std::size_t walked = 0;    // instructions
  std::size_t compared = 0;  // of them
  WalkStop stop = WalkStop::kNone;
  std::string difference;  // the first; empty: none
};

// Walks from the beginning of `body`, then single-steps the thread over the same instructions and compares
// all registers after each. A body that is to end the walk calls end_walk().
SteppedWalk walk_and_step(void (*body)());

// `at_least` instructions of it, until the system call, and no difference.
void expect_walked_as_stepped(void (*body)(), std::size_t at_least);

// A system call, at which walks stop.
inline void end_walk() {
  long result = 39;  // getpid
  asm volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
}

}  // namespace nvmemu
