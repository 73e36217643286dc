// SPDX-License-Identifier: Apache-2.0
// One thread's emulation: at the end of each epoch, counts to delay, delay to ledger, ledger to injection.
#pragma once

#include <cstdint>

#include "base/carried_time.h"
#include "counters/counter_source.h"
#include "epoch/alternation.h"
#include "epoch/governor.h"
#include "epoch/injector.h"
#include "epoch/ledger.h"
#include "epoch/pace.h"
#include "epoch/persist_account.h"
#include "model/latency_model.h"

namespace nvmemu {

// For figures that are kept as whole numbers: none is below 0.
inline std::uint64_t whole_ns(double ns) noexcept { return ns > 0 ? static_cast<std::uint64_t>(ns) : 0; }

// Sums over a thread's epochs, for the report. ns.
struct EpochTotals : Quantities {
  double governed_ns = 0;                       // of injected_ns, by the governor, when what is owed was paid
  double persist_delay_ns = 0;                  // of delay_ns, what persists are waited for longer
  PersistCounts estimated_persists;             // and of that, those that nobody told of
  ByTier<ByStallKind<double>> tier_stall_ns{};  // of stall_ns
  ByTier<double> tier_delay_ns{};               // of delay_ns
  TrafficCounts traffic;
};

// Belongs to one thread; async-signal-safe, but not reentrant, but for wait().
class ThreadEmulator {
 public:
  // `epoch_ns`: CPU time between the ends of epochs that time brings; no more overhead than that is carried.
  // `governor`: null where bandwidth is not limited. A thread waits for the larger of what latency and
  // bandwidth ask for, not for both.
  ThreadEmulator(CounterSource& source, Injector& injector, const ReadLatency& latency, double epoch_ns,
                 DelayModel model = stall_delay_ns, Governor* governor = nullptr);

  // From now on, before anything is booked: in windows of `length_ns` without delays nothing is owed, and
  // nothing that is owed is paid; each lasts until the end of an epoch, or an edge.
  void alternate(Alternation& windows, std::uint64_t length_ns) noexcept;

  // To pay has three parts. Booking reads the counts and finds what is due; waiting spends it; settling books
  // what was spent. The first and the last are short, and not to be interrupted by a signal whose handler
  // comes here, too. In the middle the program's handlers may run, and leave by a jump: then settling is for
  // whoever comes here next. Each booking must find what was booked before settled.

  // Ends the epoch: books its counts. For the ends that time brings, and for those that nothing else depends
  // on.
  void book_epoch() noexcept;
  // The last one, as far as is known.
  void book_last_epoch() noexcept;
  // Before an operation that may let another thread go on, or wait for one, so that it finds this thread as
  // late as the emulated memory would have made it. Pays what intervals that end at `site` are found to owe:
  // see Pace.
  void book_edge(std::uintptr_t site) noexcept;
  // Whether something is booked and not settled; whether it is to be waited for.
  bool is_booked() const noexcept { return payment_.is_booked; }
  bool must_wait() const noexcept { return payment_.owes_ns > 0 || payment_.held_until_ns > 0; }
  void wait();  // at once where it need not
  // Whether the last wait was left, by a jump out of a handler say, with much of it still owed: the next
  // epoch should not be long in coming.
  bool was_cut_short() const noexcept;
  // Whether the totals have changed. Without effect where nothing is booked.
  bool settle() noexcept;
  // Whether the source has epochs left that book_epoch() would tell of.
  bool has_more() noexcept { return source_.has_more(); }

  // All three at once, where nothing can come between: an epoch; the last, and what the source has left; an
  // edge.
  void end_epoch() { book_epoch(), wait(), settle(); }
  void end() {
    for (book_last_epoch(), wait(), settle(); has_more();) end_epoch();
  }
  bool reach_edge(std::uintptr_t site) { return book_edge(site), wait(), settle(); }

  // The thread makes so much durable, and begins so now; outside of signal handlers. Some ns.
  void persist(const PersistSize& size, const PersistTarget& target) noexcept {
    if (has_delays()) persists_.note(emulated_ns(), size, target);
  }
  // It goes no further until that is done; likewise.
  void wait_until_durable() noexcept {
    if (has_delays()) persists_.wait(emulated_ns());
  }

  // Memory is moved between tiers, and this thread waits for that: `ns`, and as long as the governor has it,
  // for so many bytes. Paid with what is booked next.
  void owe_move(double ns, const TrafficCounts& moved) noexcept;

  // Leaves out of the interval that began at the last edge what has passed since: the thread was spinning for
  // another.
  void begin_interval() noexcept {
    interval_start_ns_ = source_.cpu_ns();
    interval_waits_ns_ = 0;
  }

  // The thread has spun for so long, of CPU time, for a device that is emulated beside memory: it has waited,
  // and neither computed nor stalled. It owes memory what it owed. No handler of the thread's that comes
  // here, too, may interrupt this.
  void note_device_wait(double spun_ns) noexcept;

  // Emulating it has cost the thread so much beside what its counts tell.
  void note_cost(double ns) noexcept;
  // What threads before it have left, and what it leaves: what is too little to be waited for, or overpaid.
  void carry(CarriedTime& others) noexcept;
  void leave(CarriedTime& others) noexcept;

  const EpochTotals& totals() const noexcept { return totals_; }
  const PersistAccount& persists() const noexcept { return persists_; }
  double unpaid_ns() const noexcept { return ledger_.balance_ns(); }

 private:
  struct Payment {
    bool is_booked = false;
    bool has_news = false;            // the totals have changed already
    double at_edge_ns = -1;           // CPU time when it was reached; -1: the epoch ended otherwise
    double owes_ns = 0;               // by latency,
    std::uint64_t held_until_ns = 0;  // and by the governor; 0: not
    WaitProgress paid, held;
  };

  Pace::Interval account() noexcept;
  bool has_delays() const noexcept { return windows_ == nullptr || Alternation::has_delays(window_); }
  void find_window() noexcept;
  double emulated_ns() const noexcept { return injector_.quick_now_ns() + ledger_.balance_ns(); }
  double owe_persists(bool drains) noexcept;
  void book_persists(const PersistCounts& estimated) noexcept;
  void book_traffic(const EpochCounts& counts) noexcept;
  void book_tiers(const EpochCounts& counts, double delay_ns) noexcept;
  void book(double due_ns) noexcept;

  CounterSource& source_;
  Injector& injector_;
  ReadLatency latency_;
  DelayModel model_;
  Governor* governor_;
  Ledger ledger_;
  Pace pace_;
  PersistAccount persists_;
  double interval_start_ns_;         // CPU time
  double interval_waits_ns_ = 0;     // since then, for devices
  double balance_before_ns_ = 0;     // the last epoch
  std::uint64_t held_until_ns_ = 0;  // by the governor; a moment, that may be past
  std::uint64_t persists_since_ns_;  // what has been made durable is booked from then on
  Alternation* windows_ = nullptr;   // null: delays are always on
  std::uint64_t window_ns_ = 0;
  std::uint32_t window_ = 0;
  Payment payment_;
  EpochTotals totals_;
};

}  // namespace nvmemu
