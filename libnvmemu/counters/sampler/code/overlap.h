// SPDX-License-Identifier: Apache-2.0
// Which loads of a loop do not wait for one another, so that their misses are under way at the same time.
//
// It matters to how long a miss takes: memory answers several at a time, each somewhat later than it answers
// one (two to eight chases stepping together took 8 to 10 % longer a step than one, on a 2-vCPU guest; see
// docs/calibration.md). A probe does not see that: its trap has let the others arrive.
//
// Found by following registers through the loop's code: a load waits for another where the address of the one
// is made of what the other has read, in this round of the loop or from the round before. Branches are taken
// to be predicted, so what they are decided by is waited for by nobody.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "counters/sampler/code/instruction.h"

namespace nvmemu {

// Load instructions.
struct IndependentLoads {
  static constexpr std::size_t kMost = 15;
  std::array<std::uintptr_t, kMost> addresses{};
  std::size_t count = 0;
  // What those read that can be told from the registers of a thread that is about to execute the load.
  std::array<MemoryOperand, kMost> told{};
  std::size_t told_count = 0;
  // Whether the load is a link of a chain: its address is made of what it has read in the round before, or
  // another load that is. Then none of its executions can begin before the last one is done, as long as the
  // loop goes on.
  bool is_chained = false;
  // Whether what it reads is, with the displacement of its operand added, the address of its next execution,
  // as in a list: a move, and moves alone from there to the one register that it loads by.
  bool is_link = false;
};

// Of the innermost loop around the load at `address`, the loads that neither wait for that one nor make it
// wait, as far as its code shows: none where there is no loop, where it is longer than 40 instructions, calls
// a function, or keeps what it has read in memory other than the stack frame, and where the code cannot be
// read. `address` must be that of a load, executed a moment ago. Async-signal-safe; takes some 3 KiB of
// stack.
IndependentLoads independent_loads(std::uintptr_t address) noexcept;

// Whether what `load` reads is, with its displacement, the address of its next execution.
inline bool names_its_next(const Instruction& load, const IndependentLoads& beside) noexcept {
  return beside.is_link && load.operand.index == MemoryOperand::kNone;
}

}  // namespace nvmemu
