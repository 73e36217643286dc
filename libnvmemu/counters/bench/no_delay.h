// SPDX-License-Identifier: Apache-2.0
// Benchmarks of an epoch are of what comes before the delay.
#pragma once

#include "epoch/injector.h"

namespace nvmemu {

class NoDelay final : public Injector {
 public:
  double inject(double delay_ns, CounterSource&) noexcept override { return delay_ns; }
  double wait_until(std::uint64_t, CounterSource&) noexcept override { return 0; }
  std::uint64_t now_ns() noexcept override { return 0; }
};

}  // namespace nvmemu
