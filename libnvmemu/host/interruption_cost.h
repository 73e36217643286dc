// SPDX-License-Identifier: Apache-2.0
// What one sample takes away from the thread that is sampled. What it costs afterwards, by what it displaced
// from the caches, is not in it.
#pragma once

#include "base/clock.h"
#include "host/statistics.h"

namespace nvmemu {

// ns of one sample of the perf_event software task clock, into a ring buffer; zeros where that is refused. A
// loop that only reads the clock sees each interruption as a gap between two readings, so that a few hundred
// samples give their cost; comparing the times of a computation with and without would drown a per cent in
// the machine's noise.
Figure measure_sample_cost(const Clock& clock);

// ns of one tick of a timer on the thread's CPU time. It expires on the kernel's own tick, which interrupts
// anyway, so what it adds is its signal: measured as that of a signal which the thread sends itself, less a
// system call. Takes SIGRTMAX for the time being. Zeros where there is no such timer.
Figure measure_timer_cost(const Clock& clock);

}  // namespace nvmemu
