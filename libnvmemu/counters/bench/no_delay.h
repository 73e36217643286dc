// SPDX-License-Identifier: Apache-2.0
// Benchmarks of an epoch are of what comes before the delay.
#pragma once

#include "epoch/injector.h"

namespace nvmemu {

class NoDelay final : public Injector {
 public:
  void inject(double delay_ns, CounterSource&, WaitProgress& progress) override {
    progress.spent_ns = delay_ns;
  }
  void wait_until(std::uint64_t, CounterSource&, WaitProgress&) override {}
  std::uint64_t now_ns() noexcept override { return 0; }
};

}  // namespace nvmemu
