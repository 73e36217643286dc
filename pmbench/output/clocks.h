// SPDX-License-Identifier: Apache-2.0
// A thread's latencies as the original prints them, in microseconds and in clocks.
#pragma once

#include <cstdint>

#include "run/result.h"

namespace nvmemu::pmbench {

// Means per access; 0 where there was none.
struct ThreadMeans {
  double with_drawing_ns = 0;  // an access, and drawing its page and reading clocks for it
  double net_ns = 0;  // an access alone: what was measured, or where nothing is recorded, the difference
  double drawing_ns = 0;
  double warmup_ns = 0;
};

// `--delay` is time that nobody waits for memory in, so it is in none of them.
ThreadMeans means_of(const ThreadResult& thread, const RunResult& result);

// Both in the original's units: truncated clocks, as it has them.
inline double to_us(double ns) { return ns / 1e3; }
std::uint64_t to_clocks(double ns, double clock_khz);

}  // namespace nvmemu::pmbench
