// SPDX-License-Identifier: Apache-2.0
// The counter source for machines with hardware counters: one event group per thread, read in user space
// where that is allowed.
//
// Epochs need a tick. A thread has one from the perf ticker (the software task clock, which needs no
// counter), one sample a tick, its ring dropped unread, or where perf_event's software clock is refused from
// a POSIX timer: in both cases CPU time drives it, and a thread that is blocked is never woken. The counters'
// own overflow interrupts are not used: each would take one from the group.
#pragma once

#include <cstdint>

#include "counters/pmu/core_clock.h"
#include "counters/pmu/counted_roles.h"
#include "counters/pmu/event_group.h"
#include "counters/pmu/group_delta.h"
#include "counters/pmu/stall_time.h"
#include "counters/pmu/traffic_counters.h"
#include "counters/sampler/ticker/perf_ticker.h"
#include "counters/sampler/ticker/timer_ticker.h"
#include "counters/thread_source.h"

namespace nvmemu {

struct PmuSourceOptions {
  const Microarchitecture* design = nullptr;  // see find_events(); not null
  LevelLatencies latencies = {};
  int numa_nodes = 1;
  bool counts_traffic = false;  // too; the design must (Microarchitecture::traffic)
  double tick_ns = 10e6;        // CPU time between ticks
  double tick_cost_ns = 0;
  int signal = 0;  // that ticks arrive by; its handler calls on_tick()
};

// What is counted of a design, for the choice of a model; `episodes`: whether edges of stalls have been found
// to be counted right.
CountSet counts_of(const Microarchitecture& design, int numa_nodes, bool episodes = true) noexcept;

// The attributes that a design's roles are opened with, in their order; how many. Async-signal-safe.
std::size_t attributes_of(const Microarchitecture& design, const CountedRoles& roles,
                          std::array<perf_event_attr, EventGroup::kMostEvents>& attributes) noexcept;

class PmuSource final : public ThreadSource {
 public:
  // The rest: see EventGroup.
  explicit PmuSource(const PmuSourceOptions& options, EventGroup::Opener opener = open_event,
                     EventGroup::CounterReader counter = UserRegisters::counter);

  int open(int tid, TickerKind ticker) noexcept override;
  // What open() failed by; `event` of it is an index into roles(), or their number for the ticker and the
  // counters of traffic.
  const OpenFailure& failure() const noexcept { return failure_; }
  void close() noexcept override;
  void abandon() noexcept override;

  const CountedRoles& roles() const noexcept { return roles_; }
  CountSet counted() const noexcept override { return counts_of(*options_.design, options_.numa_nodes); }
  bool uses_perf_event() const noexcept override { return perf_.is_open(); }
  bool reads_in_user_space() const noexcept { return group_.reads_in_user_space(); }
  // The least share of an epoch that its counts were seen in: below 1 others were using the counters, or the
  // thread was on a core of another kind.
  double lowest_share() const noexcept { return lowest_share_; }
  // Readings that the kernel refused.
  bool has_lost_counts() const noexcept override { return lost_counts_; }

  void on_tick(const ucontext_t& context) noexcept override;
  // CPU time since the last read(). Ticks that fall due in the kernel are left out, so they do not tell.
  double epoch_ns() noexcept override { return cpu_ns() - last_cpu_ns_; }

  // An epoch in which the group was never on the counters has no stalls to tell and a counted_share of 0:
  // what it should have counted is in the next that has some.
  EpochCounts read() noexcept override;
  void settle() noexcept override {}
  bool has_news() noexcept override { return group_.is_open(); }
  bool knows_enough(double) noexcept override { return true; }
  double cpu_ns() noexcept override;
  void resume(double injected_ns) noexcept override;
  // Whoever spins for a device does not wait for memory: counts of stalls have nothing of it.
  void note_wait(double spun_ns) noexcept override { last_cpu_ns_ += spun_ns; }
  // Which lines the thread uses, counters do not tell.
  void keep_warm() noexcept override {}

 private:
  OpenFailure open_events(int tid) noexcept;
  int open_traffic(int tid) noexcept;
  bool begin(int tid) noexcept;
  void begin_clock() noexcept;
  int open_ticker(int tid, TickerKind ticker) noexcept;
  double cpu_ns_at(const GroupReading& reading) const noexcept;
  void follow_clock(double cycles) noexcept;
  void fill(EpochCounts& counts, const GroupDelta& delta) noexcept;

  PmuSourceOptions options_;
  CountedRoles roles_;
  OpenFailure failure_;
  EventGroup group_;
  TrafficCounters traffic_;
  PerfTicker perf_;
  TimerTicker timer_;
  CoreClock clock_;
  bool clock_has_begun_ = false;
  GroupReading start_;  // of the epoch
  GroupReading last_;   // all that is known
  double cycles_ = 0;   // in all, injections' too
  double last_cpu_ns_ = 0;
  double overhead_ns_ = 0;
  double lowest_share_ = 1;
  bool lost_counts_ = false;
};

}  // namespace nvmemu
