// SPDX-License-Identifier: Apache-2.0
// What walks have to know of the machine, as calibration has it.
#pragma once

#include <cstdint>

namespace nvmemu {

struct WalkMachine {
  double ns_per_tick = 0;   // of the TSC
  double threshold_ns = 0;  // what takes longer comes from memory
  // Instructions that the core holds while a load waits, how many of them may wait for others' results, and
  // how many loads may wait for memory at a time; 0: not known, and taken for what cores of today have.
  double window = 0, waiting = 0, misses = 0;
  // Code that is executed where the emulator is told of a persist. See PersistWatch.
  std::uintptr_t told_code_begin = 0, told_code_end = 0;
};

}  // namespace nvmemu
