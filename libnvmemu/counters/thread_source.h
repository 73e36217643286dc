// SPDX-License-Identifier: Apache-2.0
// The seam between the preload library and what counts: a counter source that is opened for a running thread,
// and has a tick of its own to end the thread's epochs by. Hardware counters are one (pmu/), the sampler is
// another.
#pragma once

#include <ucontext.h>

#include "counters/counter_source.h"
#include "counters/load_counts.h"

namespace nvmemu {

// Which of the two tickers a source may take.
enum class TickerKind { kAny, kPerfEvent, kTimer };

// Belongs to one thread. All but open() is async-signal-safe, and only for that thread.
class ThreadSource : public CounterSource {
 public:
  // Starts counting and ticking on the thread `tid` of this process: the calling one, or another, which the
  // perf_event ticker only can. 0, or the errno of what refused; nothing is left open then. Ticks arrive by
  // the signal that the source was made with, whose handler calls on_tick().
  virtual int open(int tid, TickerKind ticker) noexcept = 0;
  virtual void close() noexcept = 0;
  virtual void abandon() noexcept = 0;  // after fork, in the child: forgets what belongs to the parent

  // In the signal handler.
  virtual void on_tick(const ucontext_t& context) noexcept = 0;

  // The emulator has just mended a page fault of the thread's, at the instruction at `pc`. A tick that fell
  // due meanwhile comes now, before that is executed again.
  virtual void note_fault(std::uintptr_t /*pc*/) noexcept {}

  // Whether its first tick, on which all others wait, has come to nothing: of two signals of a kind that are
  // pending at a time one is lost.
  virtual bool has_lost_tick() const noexcept { return false; }

  // CPU time in the epoch so far, as exactly as is needed to end it.
  virtual double epoch_ns() noexcept = 0;

  virtual CountSet counted() const noexcept = 0;      // for the choice of a model
  virtual bool uses_perf_event() const noexcept = 0;  // for its ticks
  virtual bool has_lost_counts() const noexcept = 0;  // what it told is less than there was
};

}  // namespace nvmemu
