// SPDX-License-Identifier: Apache-2.0
// What one load, timed between fences, reads when its line is in a cache and when it is in memory.
#pragma once

#include "base/clock.h"
#include "host/chase_buffer.h"

namespace nvmemu {

struct MemoryThreshold {
  double overhead_ns;   // a reading of an L1 hit
  double threshold_ns;  // above it, a reading is of a load from memory
};

// `cached`: a set that the last-level cache holds and the inner ones do not. `from_memory` is flushed first.
MemoryThreshold measure_memory_threshold(const Clock& clock, const ChaseBuffer& cached,
                                         const ChaseBuffer& from_memory);

}  // namespace nvmemu
