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
  double first_ns = 0;  // from a persist's begin until its first line is durable; 0: nothing is emulated
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
    const double now_ns = begin_ns + owed_ns_.load(kRelaxed) - taken_ns_.load(kRelaxed);
    const double start_ns = std::max(now_ns, busy_until_ns_);
    busy_until_ns_ = start_ns + target.first_ns + static_cast<double>(lines - 1) * target.line_ns;
    double owed_ns = start_ns - now_ns;
    if (target.own_ns >= 0) owed_ns = std::max(owed_ns, busy_until_ns_ - now_ns - target.own_ns);
    owed_ns_.store(owed_ns_.load(kRelaxed) + owed_ns, kRelaxed);
    persists_.store(persists_.load(kRelaxed) + 1, kRelaxed);
    lines_.store(lines_.load(kRelaxed) + lines, kRelaxed);
  }

  // What the thread owes since this was last asked.
  double take_debt() noexcept {
    const double owed_ns = owed_ns_.load(kRelaxed);
    const double debt_ns = owed_ns - taken_ns_.load(kRelaxed);
    taken_ns_.store(owed_ns, kRelaxed);
    return debt_ns;
  }
  // What it still has to wait for until all is durable, at `now_ns`, which has all of its debt.
  double until_durable_ns(double now_ns) const noexcept { return std::max(0.0, busy_until_ns_ - now_ns); }
  // Nothing is owed, or under way.
  void forget() noexcept {
    take_debt();
    busy_until_ns_ = 0;
  }

  std::uint64_t persists() const noexcept { return persists_.load(kRelaxed); }
  std::uint64_t lines() const noexcept { return lines_.load(kRelaxed); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  double busy_until_ns_ = 0;
  std::atomic<double> owed_ns_{0}, taken_ns_{0};  // in all; each has one writer
  std::atomic<std::uint64_t> persists_{0}, lines_{0};
};

}  // namespace nvmemu
