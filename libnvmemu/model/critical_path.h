// SPDX-License-Identifier: Apache-2.0
// What the delays of threads that ran at the same time do to the run as a whole. Pure; allocates.
#pragma once

#include <cstdint>
#include <span>

namespace nvmemu {

// A stretch of one thread's run, in wall time, in which it computed for `cpu_ns` and is to be delayed by
// `delay_ns`, wherever in it. All >= 0, begin <= end; stretches of one thread do not overlap.
struct Stretch {
  std::uint32_t thread;
  double begin_ns, end_ns;
  double cpu_ns;
  double delay_ns;
};

// How much longer the run takes.
struct Lengthening {
  double least_ns = 0;     // the thread that is delayed most: if the others only ever wait for it
  double most_ns = 0;      // all delays one after another: if no two threads' ever overlap
  double expected_ns = 0;  // see below; between the two
};

// Who waits for whom is not known; what is known is when each thread ran, and how much of that time it
// computed. Where threads together keep n processors busy, their delays are taken to overlap n-fold, and
// where they keep no more than one busy, not at all: they took turns. But the run is lengthened by no less
// than its most delayed thread, at each moment and on the whole. Of threads that ran one after another
// the delays add, then; of those that ran side by side the largest counts, and of those that took turns, on
// however many processors, the sum.
Lengthening lengthen(std::span<const Stretch> stretches);

}  // namespace nvmemu
