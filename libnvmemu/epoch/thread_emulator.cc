// SPDX-License-Identifier: Apache-2.0
#include "epoch/thread_emulator.h"

#include <algorithm>

namespace nvmemu {

ThreadEmulator::ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency,
                               double epoch_ns, DelayModel model)
    : source_(source),
      injector_(injector),
      latency_(latency),
      model_(model),
      ledger_(epoch_ns),
      pace_(epoch_ns),
      interval_start_ns_(source.cpu_ns()) {}

// Reads the counts, and books them.
Pace::Interval ThreadEmulator::account() noexcept {
  const EpochCounts counts = source_.read();
  const double delay_ns = model_(counts, latency_);
  ledger_.owe(delay_ns);
  ledger_.discount(counts.overhead_ns);
  totals_.cpu_ns += counts.cpu_ns;
  totals_.stall_ns += counts.memory_stall_ns;
  totals_.counted_ns += counts.counted_share * counts.cpu_ns;
  totals_.delay_ns += delay_ns;
  totals_.overhead_ns += counts.overhead_ns;
  totals_.samples += counts.samples;
  totals_.stall_samples += counts.stall_samples;
  totals_.probes += counts.probes;
  totals_.sampling_variance_ns2 += counts.sampling_variance_ns2;
  totals_.share_error_ns += counts.share_error_ns;
  // What corrects the past is the ledger's to even out.
  EpochCounts fresh = counts;
  fresh.memory_stall_ns = counts.fresh_stall_ns;
  return {.delay_ns = model_(fresh, latency_) - counts.fresh_excess_ns,
          .interrupted_ns = counts.interrupted_ns};
}

// The CPU time that it took.
double ThreadEmulator::pay(double due_ns) noexcept {
  if (due_ns < Ledger::kSmallestInjectionNs) return 0;
  source_.pause(due_ns);
  const double injected_ns = injector_.inject(due_ns, source_);
  source_.resume(injected_ns);
  // A thread that was stopped meanwhile (a suspended machine, say) has not paid for hours to come.
  constexpr double kMostOversleptNs = 10e6;
  ledger_.pay(std::min(injected_ns, due_ns + kMostOversleptNs));
  totals_.injected_ns += injected_ns;
  return injected_ns;
}

void ThreadEmulator::end_epoch() noexcept {
  account();
  ++totals_.epochs;
  pay(ledger_.due_ns());
  interval_start_ns_ = source_.cpu_ns();
}

void ThreadEmulator::finish() noexcept {
  source_.settle();
  end_epoch();
}

void ThreadEmulator::end() noexcept {
  finish();
  while (source_.has_more()) end_epoch();
}

bool ThreadEmulator::reach_edge(std::uintptr_t site) noexcept {
  const double now_ns = source_.cpu_ns();
  const bool has_news = source_.has_news();
  const double passed_ns = now_ns - interval_start_ns_;
  Pace::Interval interval = has_news ? account() : Pace::Interval{};
  interval.cpu_ns = std::max(0.0, passed_ns - interval.interrupted_ns);
  const double due_ns = pace_.due_ns(site, interval, ledger_.balance_ns());
  const double injected_ns = source_.knows_enough(passed_ns) ? pay(due_ns) : 0;
  if (injected_ns > 0) ++totals_.epochs;
  interval_start_ns_ = source_.cpu_ns();
  const double overhead_ns = std::max(0.0, interval_start_ns_ - now_ns - injected_ns);
  ledger_.discount(overhead_ns);
  totals_.overhead_ns += overhead_ns;
  return has_news || injected_ns > 0;
}

}  // namespace nvmemu
