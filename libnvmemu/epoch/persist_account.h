// SPDX-License-Identifier: Apache-2.0
// What one thread's persists (stores made durable by flushes and a fence) take on the emulated memory. A
// persist is durable some time after it begins, and the thread goes on meanwhile, as behind a fence of this
// machine's; the next one waits until the memory has taken it, and so does whatever lets other threads go on.
// Reckoned in emulated time: what the clock says, and what the thread owes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/relaxed.h"
#include "tier/persist_target.h"

namespace nvmemu {

// note() is the thread's, outside of signal handlers; all else may interrupt it on the same thread, in a
// handler. Async-signal-safe. No locked instruction: it would wait for the very persist that is noted, and so
// keep the thread from the work that it does meanwhile.
class PersistAccount {
 public:
  // The thread has persisted `size`, a line or more, beginning at `begin_ns` of emulated time, less what is
  // untaken here.
  void note(double begin_ns, const PersistSize& size, const PersistTarget& target) noexcept {
    count(size.lines);
    if (target.first_ns <= 0) return;
    std::atomic<double>& busy_ns = busy_ns_[target.tier];
    busy_ns.store(busy_ns.load(kRelaxed) +
                      target.busy_ns(static_cast<double>(size.lines), static_cast<double>(size.blocks)),
                  kRelaxed);
    const double now_ns = less_untaken(begin_ns);
    const double wait_ns = until_durable_ns(now_ns);
    const double written_ns = write(size.blocks, now_ns, wait_ns, target);
    const double lines_ns = target.durable_after_ns(static_cast<double>(size.lines));
    noted_at_ns_ = now_ns;
    busy_for_ns_ = wait_ns + std::max(lines_ns, written_ns - target.queue_ns);
    double owed_ns = wait_ns;
    if (target.own_ns >= 0) owed_ns = std::max(owed_ns, busy_for_ns_ - target.own_ns);
    owe(owed_ns);
  }

  // The thread goes no further until all is durable: at `begin_ns`, likewise.
  void wait(double begin_ns) noexcept { owe(until_durable_ns(less_untaken(begin_ns))); }

  // What the thread owes since this was last asked.
  double take_debt() noexcept {
    const double owed_ns = owed_ns_.load(kRelaxed);
    const double debt_ns = owed_ns - taken_ns_.load(kRelaxed);
    taken_ns_.store(owed_ns, kRelaxed);
    return debt_ns;
  }
  // How long the medium of a tier, which all threads share, is busy with what this one has persisted since
  // this was last asked.
  double take_busy_ns(TierId tier) noexcept {
    const double busy_ns = busy_ns_[tier].load(kRelaxed);
    return busy_ns - std::exchange(taken_busy_ns_[tier], busy_ns);
  }
  // What it still has to wait for until all is durable, at `now_ns`, which has all of its debt. Emulated time
  // steps back where the emulator's own work is taken off: no time has passed then, and the memory is busy
  // for no longer than it was.
  double until_durable_ns(double now_ns) const noexcept {
    return std::max(0.0, busy_for_ns_ - std::max(0.0, now_ns - noted_at_ns_));
  }
  // Nothing is owed, or under way.
  void forget() noexcept {
    take_debt();
    for (std::size_t tier = 0; tier < kMostTiers; ++tier) take_busy_ns(static_cast<TierId>(tier));
    busy_for_ns_ = 0;
    unwritten_ns_ = 0;
  }

  std::uint64_t persists() const noexcept { return persists_.load(kRelaxed); }
  std::uint64_t lines() const noexcept { return lines_.load(kRelaxed); }

 private:
  // `begin_ns` is of a clock that has all of the debt but what nobody has taken yet.
  double less_untaken(double begin_ns) const noexcept {
    return begin_ns + owed_ns_.load(kRelaxed) - taken_ns_.load(kRelaxed);
  }
  void owe(double ns) noexcept { owed_ns_.store(owed_ns_.load(kRelaxed) + ns, kRelaxed); }

  // So many blocks more are to be written, from `wait_ns` behind `now_ns` on. How long, from then on, the
  // medium has to do.
  double write(std::uint64_t blocks, double now_ns, double wait_ns, const PersistTarget& target) noexcept {
    const double passed_ns = std::max(0.0, now_ns - noted_at_ns_) + wait_ns;
    const double left_ns = std::max(0.0, unwritten_ns_ - passed_ns);
    const double written_ns = left_ns + static_cast<double>(blocks) * target.block_ns;
    unwritten_ns_ = written_ns + wait_ns;
    return written_ns;
  }

  void count(std::uint64_t lines) noexcept {
    persists_.store(persists_.load(kRelaxed) + 1, kRelaxed);
    lines_.store(lines_.load(kRelaxed) + lines, kRelaxed);
  }

  double noted_at_ns_ = 0, busy_for_ns_ = 0;      // the last persist, and for how long from then on,
  double unwritten_ns_ = 0;                       // and how long the medium writes from then on
  std::atomic<double> owed_ns_{0}, taken_ns_{0};  // in all; each has one writer
  ByTier<std::atomic<double>> busy_ns_{};         // of media, in all
  ByTier<double> taken_busy_ns_{};
  std::atomic<std::uint64_t> persists_{0}, lines_{0};
};

}  // namespace nvmemu
