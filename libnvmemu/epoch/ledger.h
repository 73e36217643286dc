// SPDX-License-Identifier: Apache-2.0
// What a thread owes the emulated memory, or has overpaid. Pure arithmetic, async-signal-safe, one thread.
#pragma once

namespace nvmemu {

// All in ns. Delays add to the balance; measuring overhead, which the program has already spent waiting, and
// injected time come off it. A balance below zero (more overhead than delay) is carried, but no further than
// `bound`: a phase that never waits for memory must not buy a later one off.
class Ledger {
 public:
  // Entering and leaving a spin costs about this much itself: less is not worth one.
  static constexpr double kSmallestInjectionNs = 1000;

  explicit Ledger(double bound_ns) : bound_ns_(bound_ns) {}

  void owe(double delay_ns) noexcept;
  void discount(double overhead_ns) noexcept;  // >= 0
  void pay(double injected_ns) noexcept;       // >= 0; may exceed what was due

  // The thread was held up for `held_ns` on top of what it paid, for another reason, in an epoch that began
  // with the balance `before_ns`: what the epoch owes it has waited for meanwhile, and its overhead was part
  // of the wait. Neither is carried on.
  void absorb(double before_ns, double held_ns) noexcept;

  // The balance, or 0 while it is too small to be worth a spin.
  double due_ns() const noexcept;
  double balance_ns() const noexcept { return balance_ns_; }
  // So much at most can be overpaid by overhead.
  double bound_ns() const noexcept { return bound_ns_; }

 private:
  double bound_ns_;
  double balance_ns_ = 0;
};

}  // namespace nvmemu
