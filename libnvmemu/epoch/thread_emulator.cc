// SPDX-License-Identifier: Apache-2.0
#include "epoch/thread_emulator.h"

#include <algorithm>

namespace nvmemu {

ThreadEmulator::ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency,
                               double overhead_bound_ns)
    : source_(source), injector_(injector), latency_(latency), ledger_(overhead_bound_ns) {}

void ThreadEmulator::account() noexcept {
  const EpochCounts counts = source_.read();
  const double delay_ns = stall_delay_ns(counts, latency_);
  ledger_.owe(delay_ns);
  ledger_.discount(counts.overhead_ns);
  ++totals_.epochs;
  totals_.cpu_ns += counts.cpu_ns;
  totals_.stall_ns += counts.memory_stall_ns;
  totals_.delay_ns += delay_ns;
  totals_.overhead_ns += counts.overhead_ns;
  totals_.samples += counts.samples;
  totals_.stall_samples += counts.stall_samples;
  totals_.probes += counts.probes;
  totals_.sampling_variance_ns2 += counts.sampling_variance_ns2;
  totals_.share_error_ns += counts.share_error_ns;
}

void ThreadEmulator::settle() noexcept {
  const double due_ns = ledger_.due_ns();
  if (due_ns <= 0) return;
  source_.pause();
  const double injected_ns = injector_.inject(due_ns);
  source_.resume();
  // A thread that was stopped meanwhile (a debugger, SIGSTOP, a suspended machine) has not paid for hours to
  // come.
  constexpr double kMostOversleptNs = 10e6;
  ledger_.pay(std::min(injected_ns, due_ns + kMostOversleptNs));
  totals_.injected_ns += injected_ns;
}

void ThreadEmulator::end_epoch() noexcept {
  account();
  settle();
}

}  // namespace nvmemu
