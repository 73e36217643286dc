// SPDX-License-Identifier: Apache-2.0
// The truth about a walk: the processor itself, one instruction at a time.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "walk/decode/micro_op.h"

// Between a step and its walk, a thread sanitizer's own thread changes what its code reads.
#if defined(__SANITIZE_THREAD__)
#define NVMEMU_NOT_BESIDE_OTHERS() GTEST_SKIP() << "steps are not compared beside a sanitizer's thread"
#else
#define NVMEMU_NOT_BESIDE_OTHERS() static_cast<void>(0)
#endif

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
