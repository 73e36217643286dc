// SPDX-License-Identifier: Apache-2.0
// One thread's emulation: at the end of each epoch, counts to delay, delay to ledger, ledger to injection.
#pragma once

#include <cstdint>

#include "counters/counter_source.h"
#include "epoch/injector.h"
#include "epoch/ledger.h"
#include "model/latency_model.h"

namespace nvmemu {

// Sums over a thread's epochs, for the report. ns.
struct EpochTotals {
  std::uint64_t epochs = 0;
  double cpu_ns = 0;    // injections not included
  double stall_ns = 0;  // memory stall
  double delay_ns = 0;  // what the model asked for
  double injected_ns = 0;
  double overhead_ns = 0;
  std::uint64_t samples = 0;
  std::uint64_t stall_samples = 0;
  std::uint64_t probes = 0;
  double sampling_variance_ns2 = 0;
  double share_error_ns = 0;

  double stall_variance_ns2() const noexcept {
    return sampling_variance_ns2 + share_error_ns * share_error_ns;
  }
};

// Belongs to one thread; async-signal-safe, but not reentrant.
class ThreadEmulator {
 public:
  ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency,
                 double overhead_bound_ns);

  // Ends the epoch: reads the counts and settles what is due. For the ends that time brings, and for those
  // that nothing else depends on.
  void end_epoch() noexcept;

  // The two halves, for edges between threads, where what is owed must be paid at a moment of the caller's
  // choice (before a lock is released, say).
  void account() noexcept;
  void settle() noexcept;

  const EpochTotals& totals() const noexcept { return totals_; }
  double unpaid_ns() const noexcept { return ledger_.balance_ns(); }

 private:
  CounterSource& source_;
  Injector& injector_;
  ReadLatency latency_;
  Ledger ledger_;
  EpochTotals totals_;
};

}  // namespace nvmemu
