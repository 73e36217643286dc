// SPDX-License-Identifier: Apache-2.0
// How fast a thread's core runs, which turns core cycles into time. It changes with turbo and load, so it is
// followed. Counters see user mode only, and so cycles are compared with the thread's CPU time in user mode:
// against all of its CPU time, a program that is half in the kernel would seem to run at half the clock.
// Pure arithmetic; belongs to one thread.
#pragma once

namespace nvmemu {

class CoreClock {
 public:
  // The kernel tells user mode from its own by its ticks: over a short time it is only roughly known.
  static constexpr double kWindowNs = 50e6;

  // Whether enough has passed for another look, `cycles` having been counted since the thread began to be.
  bool is_due(double cycles) const noexcept {
    return cycles - cycles_ >= (cycles_per_ns_ > 0 ? cycles_per_ns_ * kWindowNs : kFirstCycles);
  }

  // User CPU time when that many cycles had been counted.
  void add(double cycles, double user_ns) noexcept {
    const double rate = user_ns > user_ns_ ? (cycles - cycles_) / (user_ns - user_ns_) : 0;
    cycles_ = cycles;
    user_ns_ = user_ns;
    if (rate < kSlowest || rate > kFastest) return;
    cycles_per_ns_ = cycles_per_ns_ > 0 ? cycles_per_ns_ + kFollow * (rate - cycles_per_ns_) : rate;
  }

  // From when on; what passed before is left out.
  void start(double cycles, double user_ns) noexcept {
    cycles_ = cycles;
    user_ns_ = user_ns;
  }

  double cycles_per_ns() const noexcept { return cycles_per_ns_; }  // 0: not known yet

 private:
  static constexpr double kFirstCycles = 3e6;  // a millisecond, or so
  static constexpr double kSlowest = 0.1, kFastest = 10;
  static constexpr double kFollow = 0.3;

  double cycles_ = 0, user_ns_ = 0;
  double cycles_per_ns_ = 0;
};

}  // namespace nvmemu
