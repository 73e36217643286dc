// SPDX-License-Identifier: Apache-2.0
// What a persist takes on this machine.
#pragma once

#include "base/clock.h"
#include "host/statistics.h"

namespace nvmemu {

// ns of storing to a line that is in the caches, flushing it and a fence, one after the other; by the best of
// clwb, clflushopt and clflush that the processor has. Zeros where it has none.
Figure measure_persist_cost(const Clock& clock);

}  // namespace nvmemu
