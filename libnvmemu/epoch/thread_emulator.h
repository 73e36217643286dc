// SPDX-License-Identifier: Apache-2.0
// One thread's emulation: at the end of each epoch, counts to delay, delay to ledger, ledger to injection.
#pragma once

#include <cstdint>

#include "counters/counter_source.h"
#include "epoch/governor.h"
#include "epoch/injector.h"
#include "epoch/ledger.h"
#include "epoch/pace.h"
#include "model/latency_model.h"

namespace nvmemu {

// Sums over a thread's epochs, for the report. ns.
struct EpochTotals {
  std::uint64_t epochs = 0;
  double cpu_ns = 0;          // injections not included
  double stall_ns = 0;        // memory stall
  double misses = 0;          // in a row, that stall_ns is made of, where what they take is known,
  double drifted_misses = 0;  // and each by the base then, over that at start
  double counted_ns = 0;      // of cpu_ns, what hardware counters saw; 0: none counted
  double delay_ns = 0;        // what the model asked for
  double injected_ns = 0;     // all that it was made to wait,
  double held_ns = 0;         // and of that, by the governor, when it had paid what it owed the latency
  double overhead_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t stall_samples = 0;
  std::uint64_t probes = 0;
  double sampling_variance_ns2 = 0;
  double share_error_ns = 0;
  TrafficCounts traffic;

  double stall_variance_ns2() const noexcept {
    return sampling_variance_ns2 + share_error_ns * share_error_ns;
  }
};

// Belongs to one thread; async-signal-safe, but not reentrant.
class ThreadEmulator {
 public:
  // `epoch_ns`: CPU time between the ends of epochs that time brings; no more overhead than that is carried.
  // `governor`: null where bandwidth is not limited. A thread waits for the larger of what latency and
  // bandwidth ask for, not for both.
  ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency, double epoch_ns,
                 DelayModel model = stall_delay_ns, Governor* governor = nullptr);

  // Ends the epoch: reads the counts and settles what is due. For the ends that time brings, and for those
  // that nothing else depends on.
  void end_epoch() noexcept;
  // The last one, as far as is known.
  void finish() noexcept;
  // The thread ends: the last one, and all that the source has left.
  void end() noexcept;

  // Before an operation that may let another thread go on, or wait for one, so that it finds this thread as
  // late as the emulated memory would have made it. Pays what intervals that end at `site` are found to owe:
  // see Pace. Whether the totals have changed.
  bool reach_edge(std::uintptr_t site) noexcept;

  // Leaves out of the interval that began at the last edge what has passed since: the thread was spinning for
  // another.
  void begin_interval() noexcept { interval_start_ns_ = source_.cpu_ns(); }

  const EpochTotals& totals() const noexcept { return totals_; }
  double unpaid_ns() const noexcept { return ledger_.balance_ns(); }

 private:
  Pace::Interval account() noexcept;
  void book_traffic(const EpochCounts& counts) noexcept;
  double pay(double due_ns) noexcept;

  CounterSource& source_;
  Injector& injector_;
  ReadLatency latency_;
  DelayModel model_;
  Governor* governor_;
  Ledger ledger_;
  Pace pace_;
  double interval_start_ns_;         // CPU time
  double balance_before_ns_ = 0;     // the last epoch
  std::uint64_t held_until_ns_ = 0;  // by the governor; a moment, that may be past
  EpochTotals totals_;
};

}  // namespace nvmemu
