// SPDX-License-Identifier: Apache-2.0
// What one thread's persists (stores made durable by flushes and a fence) take on the emulated memory. A
// persist is durable some time after it begins, and the thread goes on meanwhile, as behind a fence of this
// machine's; the next one waits until the memory has taken it, and so does whatever lets other threads go on.
// Reckoned in emulated time: what the clock says, and what the thread owes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace nvmemu {

struct PersistTarget {
  double first_ns = 0;  // from a persist's begin until its first line is durable; 0: they are counted only
  double line_ns = 0;   // and each further line
  // Of a memory that is waited for until the line is in it: what this machine's fence waits for anyhow. Below
  // 0: the thread goes on meanwhile.
  double own_ns = -1;
};

// note() is the thread's, outside of signal handlers; all else may interrupt it on the same thread, in a
// handler. Async-signal-safe. No locked instruction: it would wait for the very persist that is noted, and so
// keep the thread from the work that it does meanwhile.
class PersistAccount {
 public:
  // The thread has persisted `lines` >= 1, beginning at `begin_ns` of emulated time, less what is untaken
  // here.
  void note(double begin_ns, std::uint64_t lines, const PersistTarget& target) noexcept {
    count(lines);
    if (target.first_ns <= 0) return;
    const double now_ns = begin_ns + owed_ns_.load(kRelaxed) - taken_ns_.load(kRelaxed);
    const double wait_ns = until_durable_ns(now_ns);
    noted_at_ns_ = now_ns;
    busy_for_ns_ = wait_ns + target.first_ns + static_cast<double>(lines - 1) * target.line_ns;
    double owed_ns = wait_ns;
    if (target.own_ns >= 0) owed_ns = std::max(owed_ns, busy_for_ns_ - target.own_ns);
    owed_ns_.store(owed_ns_.load(kRelaxed) + owed_ns, kRelaxed);
  }

  // What the thread owes since this was last asked.
  double take_debt() noexcept {
    const double owed_ns = owed_ns_.load(kRelaxed);
    const double debt_ns = owed_ns - taken_ns_.load(kRelaxed);
    taken_ns_.store(owed_ns, kRelaxed);
    return debt_ns;
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
    busy_for_ns_ = 0;
  }

  std::uint64_t persists() const noexcept { return persists_.load(kRelaxed); }
  std::uint64_t lines() const noexcept { return lines_.load(kRelaxed); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  void count(std::uint64_t lines) noexcept {
    persists_.store(persists_.load(kRelaxed) + 1, kRelaxed);
    lines_.store(lines_.load(kRelaxed) + lines, kRelaxed);
  }

  double noted_at_ns_ = 0, busy_for_ns_ = 0;      // the last persist, and for how long from then on
  std::atomic<double> owed_ns_{0}, taken_ns_{0};  // in all; each has one writer
  std::atomic<std::uint64_t> persists_{0}, lines_{0};
};

}  // namespace nvmemu
