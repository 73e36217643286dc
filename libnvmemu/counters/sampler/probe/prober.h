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
// reads as a hit, always). Where the load is a link of a list, what it reads is where it will be next, which
// the processor has not seen yet: bursts read that line, at every other hit, as the program then finds it in
// the cache.
//
// Elsewhere something else helps: a load that misses the TLB is dropped before it reaches the caches. So each
// timed hit of a share burst empties the TLB for the next, by taking a page range's permissions away and
// giving them back; and before the timing it brings the translation back by reading elsewhere in the same
// page. Natural bursts do neither. But a walk of the page tables that a load begins before its trap goes on,
// and then the translation that the program would have waited for is at hand: natural readings of a chase in
// 4 KiB pages were as short as in huge ones on a Zen 4 (its estimated latency 181 ns, truly 200 to 300). For
// hits in a page that none of the burst's others were in, a line stands that the processor has not seen
// either (cold_lines.h).
//
// That leaves time for one walk of the page tables, and more where the loop has loads that do not wait for
// this one (overlap.h): while they wait for memory, this one's next execution is translated and issued. Of
// four chases that step together nothing was left to be seen on a Zen 4 (512 MiB: all readings 'cached'). So
// the hit before a timed one also reads what those are about to read, as far as the registers tell: they do
// not wait then.
//
// What others have taken from the caches meanwhile, the program would have found there: each timed reading of
// a share burst comes with twins, lines of the prober's own that were read when the burst began; for those
// that are lost by then, readings are put down to the probes (memory_share.h).
//
// As with PerfTicker, the event lives by a mapping, never by a descriptor of the program's.
#pragma once

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "counters/sampler/code/guarded_read.h"
#include "counters/sampler/learned/load_table.h"
#include "counters/sampler/probe/probe_schedule.h"
#include "counters/sampler/probe/tlb_flusher.h"
#include "counters/sampler/probe/twin_lines.h"

namespace nvmemu {

// What tells memory from cache in a reading; from the calibration.
struct ProbeScale {
  double overhead_ns = 0;          // a reading of a load that waits for nothing
  double threshold_ns = 0;         // a reading above this, overhead included, came from memory
  double readings_to_latency = 0;  // a load's latency over what a natural probe of it reads; 0: not known
  // What a natural reading of a load is over one of its next execution, read ahead; 0: none are read ahead.
  double next_to_natural = 0;
  double trap_cost_ns = 0;  // one hit, handler and all
};

// One finished burst.
struct Burst {
  // Readings. Few: what the traps hold up is evicted by neighbours meanwhile.
  static constexpr std::uint16_t kTimed = 6;

  LoadEntry* load = nullptr;  // null: no burst has ended
  BurstKind kind = BurstKind::kShare;
  ProbeSums sums;
  std::array<std::uintptr_t, kTimed> misses{};  // see missed()
  double since_gap_ms = 0;                      // when it began
  double cost_ns = 0;                           // the traps', and of arming and disarming
  double lasted_ns = 0;                         // with what the program ran in between
  bool is_long = false;                         // many hits passed before the timed ones
  bool dense = false;                           // its hits followed one another about as fast as traps can

  // What the load read from memory.
  std::span<const std::uintptr_t> missed() const noexcept {
    return {misses.data(), static_cast<std::size_t>(sums.from_memory)};
  }
};

// Belongs to one thread. All but open-time functions are async-signal-safe.
class Prober {
 public:
  Prober(const Clock& clock, const ProbeScale& scale) : clock_(&clock), scale_(scale) {}

  // Arms a breakpoint on `load` for the calling thread. 0, or the errno of what refused. `since_gap_ms` is
  // kept for the burst's record.
  int arm(LoadEntry* load, BurstKind kind, double since_gap_ms) noexcept;
  bool armed() const noexcept { return page_ != nullptr; }

  // Whether that trap is any prober's, its thread's or not.
  static bool owns(const siginfo_t& info) noexcept;

  // In the SIGTRAP handler. Whether the trap was this prober's.
  bool on_trap(const siginfo_t& info, const ucontext_t& context) noexcept;

  // Whether take_burst() has one, and such a one.
  bool has_burst() const noexcept { return finished_.load != nullptr; }
  bool has_dense_burst() const noexcept { return has_burst() && finished_.dense; }

  // The burst that has ended, once; else load == nullptr.
  Burst take_burst() noexcept;

  // Ends a burst that the thread no longer feeds (it has left the loop). What was timed counts.
  void disarm() noexcept;
  void close() noexcept;
  // After fork, in the child: mappings of events are not inherited.
  void abandon() noexcept { page_ = nullptr; }

  // Whether this process's handlers are the ones that probing needs; a runtime that sets its own behind the C
  // library's back (Go) must not be sent traps. Set by the preload library.
  using HandlersInPlace = bool (*)() noexcept;
  void set_guard(HandlersInPlace guard) noexcept { guard_ = guard; }
  bool handlers_in_place() const noexcept { return guard_ == nullptr || guard_(); }

 private:
  struct Plan {
    std::uint16_t skip;
    bool compares;  // times early hits too
  };
  static Plan plan_for(const LoadEntry& load, BurstKind kind) noexcept;
  void take_hit(const ucontext_t& context) noexcept;
  bool take_reading(std::uint16_t hit, const ucontext_t& context) noexcept;
  void read_beside(const ucontext_t& context) const noexcept;
  bool reads_next() const noexcept;
  std::uintptr_t timed_address(const ucontext_t& context) const noexcept;
  void note_page(std::uintptr_t address) noexcept;
  std::optional<double> read(std::uintptr_t address, std::uintptr_t touched) const noexcept;
  void time_load(std::uintptr_t address, bool late) noexcept;
  double waited_ns(double reading_ns) const noexcept;
  double natural_miss_ns(double waited) noexcept;
  unsigned lost_twins() noexcept;
  void finish() noexcept;

  const Clock* clock_;
  ProbeScale scale_;
  HandlersInPlace guard_ = nullptr;
  TlbFlusher tlb_;
  TwinLines twins_;
  void* page_ = nullptr;
  std::uintptr_t address_ = 0;  // copies: the entry may be made anew for other code meanwhile
  Instruction instruction_;
  IndependentLoads beside_;
  Plan plan_{};
  std::uint16_t hits_ = 0;
  std::uint16_t timed_ = 0;
  std::array<std::uintptr_t, 2 * Burst::kTimed> pages_{};  // of the burst's hits, each once
  std::size_t pages_count_ = 0;
  bool in_new_page_ = false;  // the last hit
  std::uint64_t armed_ticks_ = 0;
  std::uint64_t last_hit_ticks_ = 0;
  Burst current_{};
  Burst finished_{};
};

}  // namespace nvmemu
