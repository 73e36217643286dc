// SPDX-License-Identifier: Apache-2.0
// What walks cost, and whether they see of memory what the program does: walks of a chase whose loads are
// known.
#pragma once

#include "base/clock.h"

namespace nvmemu {

// Zeros: not known.
struct WalkedChase {
  double miss_ns = 0;         // what a load from memory takes as walks time it,
  double native_miss_ns = 0;  // and natively, in the same moments;
  // and how much longer natively, of what they take as walked, loads do that wait for memory kKnownChases at
  // a time: walks time one after the other, and memory that has more to do may take longer for each.
  double loaded_ratio = 0;
  double step_ns = 0;   // of an instruction of a walk, decoded before, that waits for no memory
  double begin_ns = 0;  // of a walk, whatever its length
};

// `line`: of a cycle of some million lines, each with the next one's address, in memory. `threshold_ns`: what
// takes longer comes from memory, the timing's overhead not included. Some 0.4 s. Not where the clock is not
// the TSC, or nothing can be walked.
WalkedChase measure_walked_chase(const Clock& clock, const void* line, double threshold_ns);

}  // namespace nvmemu
