// SPDX-License-Identifier: Apache-2.0
#include "epoch/thread_emulator.h"

#include <algorithm>

namespace nvmemu {
ThreadEmulator::ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency,
                               double epoch_ns, DelayModel model, Governor* governor)
    : source_(source),
      injector_(injector),
      latency_(latency),
      model_(model),
      governor_(governor),
      ledger_(epoch_ns),
      pace_(epoch_ns),
      interval_start_ns_(source.cpu_ns()),
      persists_since_ns_(injector.now_ns()) {}

void ThreadEmulator::alternate(Alternation& windows, std::uint64_t length_ns) noexcept {
  windows_ = &windows;
  window_ns_ = length_ns;
  find_window();
}

void ThreadEmulator::find_window() noexcept {
  if (windows_ == nullptr) return;
  window_ = windows_->at(injector_.now_ns(), window_ns_);
  source_.rest(!has_delays());
}

// Amid an injection it is a part of that: all CPU time is, until what is due is spent.
void ThreadEmulator::note_device_wait(double spun_ns) noexcept {
  if (payment_.is_booked && must_wait()) return;
  source_.note_wait(spun_ns);
  interval_waits_ns_ += spun_ns;
  totals_.injected_ns += spun_ns;
}

// What persists make the thread owe, ns; at an edge also for what is not durable yet.
double ThreadEmulator::owe_persists(bool drains) noexcept {
  if (!has_delays()) {
    persists_.forget();
    return 0;
  }
  double owed_ns = persists_.take_debt();
  if (drains) owed_ns += persists_.until_durable_ns(emulated_ns() + owed_ns);
  ledger_.owe(owed_ns);
  totals_.delay_ns += owed_ns;
  totals_.persist_delay_ns += owed_ns;
  book_persists({});
  return owed_ns;
}

// Where the medium is busy with other threads' persists, too, this one is held as long.
void ThreadEmulator::book_persists(const PersistCounts& estimated) noexcept {
  if (governor_ == nullptr) return;
  const std::uint64_t begin_ns = persists_since_ns_;
  persists_since_ns_ = injector_.now_ns();
  for (std::size_t i = 0; i < kMostTiers; ++i) {
    const auto tier = static_cast<TierId>(i);
    const double busy_ns = persists_.take_busy_ns(tier) + estimated.busy_ns[tier];
    held_until_ns_ = std::max(held_until_ns_, governor_->book_persists(tier, busy_ns, begin_ns));
  }
}

// Reads the counts, and books them.
Pace::Interval ThreadEmulator::account() noexcept {
  // What is kept back was waited for in the window that ends here.
  if (windows_ != nullptr && windows_->is_over(window_, injector_.now_ns(), window_ns_)) source_.settle();
  const EpochCounts counts = source_.read();
  const double read_ns = model_(counts, latency_), modelled_ns = read_ns + counts.persists.delay_ns;
  const double delay_ns = has_delays() ? modelled_ns : 0;
  balance_before_ns_ = ledger_.balance_ns();
  book_traffic(counts);
  if (has_delays()) {
    ledger_.owe(delay_ns);
    ledger_.discount(counts.overhead_ns);
  }
  if (windows_ != nullptr) windows_->add_cost(window_, whole_ns(counts.cpu_ns), whole_ns(counts.overhead_ns));
  add_epoch(totals_, counts);
  totals_.delay_ns += delay_ns;
  if (has_delays()) {
    totals_.persist_delay_ns += counts.persists.delay_ns;
    totals_.estimated_persists += counts.persists;
    if (counts.persists.persists > 0) book_persists(counts.persists);
  }
  book_tiers(counts, has_delays() ? read_ns : 0);
  return {.delay_ns = modelled_ns, .interrupted_ns = counts.interrupted_ns};
}

// The epoch's traffic was moved while the thread ran.
void ThreadEmulator::book_traffic(const EpochCounts& counts) noexcept {
  TrafficCounts& sum = totals_.traffic;
  sum += counts.traffic;
  if (governor_ == nullptr || !has_delays()) return;
  const auto ran_ns = static_cast<std::uint64_t>(std::max(0.0, counts.cpu_ns));
  const std::uint64_t now_ns = injector_.now_ns();
  const std::uint64_t begin_ns = now_ns - std::min(now_ns, ran_ns);
  held_until_ns_ = std::max(held_until_ns_, governor_->book(counts.traffic, begin_ns));
}

void ThreadEmulator::owe_move(double ns, const TrafficCounts& moved) noexcept {
  if (!has_delays()) return;
  ledger_.owe(ns);
  totals_.delay_ns += ns;
  totals_.traffic += moved;
  if (governor_ != nullptr)
    held_until_ns_ = std::max(held_until_ns_, governor_->book(moved, injector_.now_ns()));
}

// Each tier has its part of the delay by how many of the misses were its own, and by how much longer they
// are. What the source does not tell apart is of loads from the machine's own memory.
void ThreadEmulator::book_tiers(const EpochCounts& counts, double delay_ns) noexcept {
  ByTier<double> parts{};
  double sum = 0, told_ns = 0;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier) {
    parts[tier] = counts.of_tier[tier] * std::max(0.0, latency_.target_of(tier) - latency_.base_ns);
    sum += parts[tier];
    for (std::size_t kind = 0; kind < kStallKinds; ++kind) {
      totals_.tier_stall_ns[tier][kind] += counts.tier_stall_ns[tier][kind];
      told_ns += counts.tier_stall_ns[tier][kind];
    }
  }
  totals_.tier_stall_ns[0][StallKind::kLoad] += counts.stall_ns - told_ns;
  if (sum <= 0) return;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    totals_.tier_delay_ns[tier] += delay_ns * parts[tier] / sum;
}

// What is paid, and then waited for as long as the governor holds the thread: one after the other, they take
// as long as the larger of the two.
void ThreadEmulator::book(double due_ns) noexcept {
  constexpr double kSmallestNs = Ledger::kSmallestInjectionNs;
  const std::uint64_t now_ns = governor_ != nullptr && held_until_ns_ > 0 ? injector_.now_ns() : 0;
  const double hold_ns = held_until_ns_ > now_ns ? static_cast<double>(held_until_ns_ - now_ns) : 0;
  payment_.is_booked = true;
  payment_.owes_ns = due_ns >= kSmallestNs ? due_ns : 0;
  payment_.held_until_ns = hold_ns >= kSmallestNs ? held_until_ns_ : 0;
  for (WaitProgress* progress : {&payment_.paid, &payment_.held}) {
    progress->spent_ns.store(0, std::memory_order_relaxed);
    progress->over.store(false, std::memory_order_relaxed);
  }
}

// It may be interrupted by one that settles it, and books another: each value is read before that can be.
void ThreadEmulator::wait() {
  const double owes_ns = payment_.owes_ns;
  const std::uint64_t until_ns = payment_.held_until_ns;
  if (owes_ns > 0) injector_.inject(owes_ns, source_, payment_.paid);
  if (until_ns > 0 && !payment_.held.over.load(std::memory_order_relaxed))
    injector_.wait_until(until_ns, source_, payment_.held);
}

bool ThreadEmulator::was_cut_short() const noexcept {
  const double paid_ns = payment_.paid.spent_ns.load(std::memory_order_relaxed);
  return payment_.owes_ns - paid_ns >= Ledger::kSmallestInjectionNs;
}

bool ThreadEmulator::settle() noexcept {
  if (!payment_.is_booked) return false;
  payment_.is_booked = false;
  payment_.paid.over.store(true, std::memory_order_relaxed);
  payment_.held.over.store(true, std::memory_order_relaxed);
  const double paid_ns = payment_.paid.spent_ns.load(std::memory_order_relaxed);
  const double held_ns = payment_.held.spent_ns.load(std::memory_order_relaxed);
  if (must_wait()) {
    source_.resume(paid_ns + held_ns);
    // A thread that was stopped meanwhile (a suspended machine, say) has not paid for hours to come.
    constexpr double kMostOversleptNs = 10e6;
    ledger_.pay(std::min(paid_ns, payment_.owes_ns + kMostOversleptNs));
    if (held_ns >= Ledger::kSmallestInjectionNs) ledger_.absorb(balance_before_ns_, held_ns);
    held_until_ns_ = 0;
    totals_.injected_ns += paid_ns + held_ns;
    if (windows_ != nullptr) windows_->add_delay(window_, whole_ns(paid_ns + held_ns));
    totals_.governed_ns += held_ns;
  }
  begin_interval();
  const bool had_delays = has_delays();
  find_window();
  if (payment_.at_edge_ns < 0) return true;
  if (must_wait()) ++totals_.epochs;
  const double overhead_ns = std::max(0.0, interval_start_ns_ - payment_.at_edge_ns - paid_ns - held_ns);
  if (had_delays) ledger_.discount(overhead_ns);
  totals_.overhead_ns += overhead_ns;
  return payment_.has_news || must_wait();
}

void ThreadEmulator::note_cost(double ns) noexcept {
  totals_.overhead_ns += ns;
  if (has_delays()) ledger_.discount(ns);
}

void ThreadEmulator::carry(CarriedTime& others) noexcept { ledger_.owe(others.take(ledger_.bound_ns())); }

void ThreadEmulator::leave(CarriedTime& others) noexcept {
  const double balance_ns = ledger_.balance_ns();
  if (ledger_.due_ns() > 0) return;  // it was cut short: that is told
  ledger_.pay(balance_ns);
  others.leave(balance_ns, ledger_.bound_ns());
}

void ThreadEmulator::book_epoch() noexcept {
  account();
  owe_persists(false);
  ++totals_.epochs;
  payment_.at_edge_ns = -1;
  book(has_delays() ? ledger_.due_ns() : 0);
}

void ThreadEmulator::book_last_epoch() noexcept {
  source_.settle();
  owe_persists(true);
  book_epoch();
}

void ThreadEmulator::book_edge(std::uintptr_t site) noexcept {
  const double now_ns = source_.cpu_ns();
  payment_.at_edge_ns = now_ns;
  payment_.has_news = source_.has_news();
  const double passed_ns = now_ns - interval_start_ns_ - interval_waits_ns_;
  Pace::Interval interval = payment_.has_news ? account() : Pace::Interval{};
  if (!has_delays()) return book(0);
  interval.cpu_ns = std::max(0.0, passed_ns - interval.interrupted_ns);
  const double due_ns = pace_.due_ns(site, interval, ledger_.balance_ns());
  // What persists are owed is known, and not only likely.
  const double persists_ns = owe_persists(true);
  book((source_.knows_enough(passed_ns) ? due_ns : 0) + persists_ns);
}

}  // namespace nvmemu
