// SPDX-License-Identifier: Apache-2.0
// Spins delays.
#pragma once

#include "base/clock.h"

namespace nvmemu {

// The seam for tests: what makes a thread wait.
class Injector {
 public:
  virtual ~Injector() = default;
  // Returns after at least `delay_ns`; the ns that it really took. Async-signal-safe.
  virtual double inject(double delay_ns) noexcept = 0;
};

// Busy-waits: a thread that waits for memory keeps its processor, and a sleep would be coarser and let it go.
class SpinInjector final : public Injector {
 public:
  explicit SpinInjector(const Clock& clock) : clock_(&clock) {}
  double inject(double delay_ns) noexcept override;

 private:
  const Clock* clock_;
};

}  // namespace nvmemu
