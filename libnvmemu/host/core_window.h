// SPDX-License-Identifier: Apache-2.0
// How far a core looks ahead while a load waits for memory.
#pragma once

#include "base/clock.h"

namespace nvmemu {

struct CoreWindow {
  double instructions = 0;  // that it holds, of any kind,
  double waiting = 0;       // and of those, how many may wait for others' results. 0 each: not known
};

// By two loads from memory that do not wait for each other, with more and more instructions between them:
// they take one load's time as long as the core holds both, and two loads' from then on. `line`: of a cycle
// of some million lines, each with the next one's address, in memory. Some 0.3 s.
CoreWindow measure_core_window(const Clock& clock, const void* line);

}  // namespace nvmemu
