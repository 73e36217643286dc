// SPDX-License-Identifier: Apache-2.0
#include "epoch/ledger.h"

#include <algorithm>

namespace nvmemu {

void Ledger::owe(double delay_ns) noexcept { balance_ns_ += delay_ns; }

void Ledger::discount(double overhead_ns) noexcept {
  // Never below the bound by overhead, but a balance that is lower already (an injection overslept) stays.
  balance_ns_ = std::max(balance_ns_ - overhead_ns, std::min(balance_ns_, -bound_ns_));
}

void Ledger::pay(double injected_ns) noexcept { balance_ns_ -= injected_ns; }

void Ledger::absorb(double before_ns, double held_ns) noexcept {
  const double most_ns = std::max(before_ns, 0.0);
  const double least_ns = std::min(before_ns, 0.0);
  balance_ns_ =
      balance_ns_ > most_ns ? std::max(most_ns, balance_ns_ - held_ns) : std::max(least_ns, balance_ns_);
}

double Ledger::due_ns() const noexcept { return balance_ns_ >= kSmallestInjectionNs ? balance_ns_ : 0; }

}  // namespace nvmemu
