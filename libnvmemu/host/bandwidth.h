// SPDX-License-Identifier: Apache-2.0
// How much one core, and all cores together, move to and from memory.
#pragma once

#include <cstddef>

#include "base/clock.h"
#include "base/result.h"
#include "host/cpu.h"
#include "host/statistics.h"

namespace nvmemu {

struct Bandwidth {
  Figure read_bps;  // of a sum: bytes read
  Figure copy_bps;  // of a copy with ordinary stores: bytes read plus bytes written, as STREAM counts. The
                    // lines that such stores read first come on top of that and are not in it
};

// Streams over two arrays, split among `threads`, each of which touches its own parts first (so that they lie
// on its node). The arrays have twice the last-level cache's size, at least 256 MiB each, but no more than a
// sixteenth of the memory that is available.
Result<Bandwidth> measure_bandwidth(const Cpu& cpu, const Clock& clock, int threads, int repetitions);

}  // namespace nvmemu
