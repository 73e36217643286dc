// SPDX-License-Identifier: Apache-2.0
// Breakpoint probes: whether a load is served by memory or by a cache, by timing some of its executions.
//
// An execution breakpoint stops the thread just before a chosen load; the SIGTRAP handler works out the
// address from the saved registers and times a load of it between fences. One arming is a burst: the first
// hits are let pass (what was in flight when the thread was interrupted has already fetched its lines), the
// next ones are timed, and the breakpoint is removed. How many must pass depends on the loop: in a chase each
// address comes from the load before and a few are enough; where addresses are independent, everything that
// fitted into the out-of-order window has been fetched. The first bursts of a load compare hits early and
// late in a long burst, and so find out which it is.
//
// A breakpoint does not keep the load from being issued speculatively: where its translation is in the TLB,
// its line is on the way before the trap is taken, and every probe reads 'cached' (measured: a flushed line
// reads as a hit, always). A load that misses the TLB is dropped before it reaches the caches. So each timed
// hit of a share burst empties the TLB for the next, by taking a page range's permissions away and giving
// them back; and before the timing it brings the translation back by reading elsewhere in the same page.
// Natural bursts do neither.
//
// As with PerfTicker, the event lives by a mapping, never by a descriptor of the program's.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "base/clock.h"
#include "counters/sampler/load_table.h"
#include "counters/sampler/probe_schedule.h"

namespace nvmemu {

// What tells memory from cache in a reading; from the calibration.
struct ProbeScale {
  double overhead_ns = 0;          // a reading of a load that waits for nothing
  double threshold_ns = 0;         // a reading above this, overhead included, came from memory
  double readings_to_latency = 0;  // a load's latency over what a natural probe of it reads; 0: not known
  double trap_cost_ns = 0;         // one hit, handler and all
};

// One finished burst.
struct Burst {
  LoadEntry* load = nullptr;  // null: no burst has ended
  BurstKind kind = BurstKind::kShare;
  ProbeSums sums;
  double since_gap_ms = 0;  // when it began
  double cost_ns = 0;
};

// Belongs to one thread. All but open-time functions are async-signal-safe.
class Prober {
 public:
  Prober(const Clock& clock, const ProbeScale& scale) : clock_(&clock), scale_(scale) {}

  // Arms a breakpoint on `load` for the calling thread. 0, or the errno of what refused. `since_gap_ms` is
  // kept for the burst's record.
  int arm(LoadEntry* load, BurstKind kind, double since_gap_ms) noexcept;
  bool armed() const noexcept { return page_ != nullptr; }

  // In the SIGTRAP handler. Whether the trap was this prober's.
  bool on_trap(const siginfo_t& info, const ucontext_t& context) noexcept;

  // The burst that has ended, once; else load == nullptr.
  Burst take_burst() noexcept;

  // Ends a burst that the thread no longer feeds (it has left the loop). What was timed counts.
  void disarm() noexcept;
  void abandon() noexcept {
    page_ = nullptr;
  }  // after fork, in the child: mappings of events are not inherited

  // Whether this process's handlers are the ones that probing needs; a runtime that sets its own behind the C
  // library's back (Go) must not be sent traps. Set by the preload library.
  using HandlersInPlace = bool (*)() noexcept;
  void set_guard(HandlersInPlace guard) noexcept { guard_ = guard; }

 private:
  struct Plan {
    std::uint16_t skip;
    bool compares;  // times early hits too
  };
  static Plan plan_for(const LoadEntry& load, BurstKind kind) noexcept;
  void take_hit(std::uintptr_t address) noexcept;
  void time_load(std::uintptr_t address, bool late) noexcept;
  void finish() noexcept;

  const Clock* clock_;
  ProbeScale scale_;
  HandlersInPlace guard_ = nullptr;
  void* page_ = nullptr;
  Plan plan_{};
  std::uint16_t hits_ = 0;
  std::uint16_t timed_ = 0;
  std::uint64_t last_hit_ticks_ = 0;
  Burst current_{};
  Burst finished_{};
};

// The code in which a fault of a probe's own loads would strike, and where to go on after it: a SIGSEGV
// handler that finds its pc in [begin, end) sets it to `resume`, and the reading is dropped.
struct ProbeFaultRange {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uintptr_t resume;
};
ProbeFaultRange probe_fault_range() noexcept;

}  // namespace nvmemu
