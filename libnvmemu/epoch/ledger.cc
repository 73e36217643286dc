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

double Ledger::due_ns() const noexcept { return balance_ns_ >= kSmallestInjectionNs ? balance_ns_ : 0; }

}  // namespace nvmemu
