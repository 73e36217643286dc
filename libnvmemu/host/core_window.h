// SPDX-License-Identifier: Apache-2.0
// How far a core looks ahead while a load waits for memory.
#pragma once

#include "base/clock.h"

namespace nvmemu {

struct CoreWindow {
  double instructions = 0;  // that it holds, of any kind,
  double waiting = 0;       // of those, how many may wait for others' results,
  double misses = 0;        // and how many loads may wait for memory at a time. 0 each: not known
};

// The first two by two loads from memory that do not wait for each other, with more and more instructions
// between them: they take one load's time as long as the core holds both, and two loads' from then on. The
// last by loads of which none waits for another: as many as end in the time of one. `line`: of a cycle of
// some million lines, each with the next one's address, in memory. Some 0.3 s.
CoreWindow measure_core_window(const Clock& clock, const void* line);

}  // namespace nvmemu
