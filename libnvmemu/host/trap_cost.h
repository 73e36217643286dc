// SPDX-License-Identifier: Apache-2.0
// What one breakpoint trap costs.
#pragma once

#include "base/clock.h"
#include "host/statistics.h"

namespace nvmemu {

// ns of one execution breakpoint with SIGTRAP and a handler that does nothing; zeros where breakpoints are
// refused. Takes SIGTRAP for the time being: for single-threaded use.
Figure measure_trap_cost(const Clock& clock);

}  // namespace nvmemu
