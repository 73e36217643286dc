// SPDX-License-Identifier: Apache-2.0
// Spins delays.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "counters/counter_source.h"

namespace nvmemu {

// The seam for tests: what makes a thread wait.
class Injector {
 public:
  virtual ~Injector() = default;
  // Returns after the thread has spent at least `delay_ns` of CPU time; the ns that it really spent.
  // Meanwhile `source`, the thread's, keeps its memory warm. Async-signal-safe.
  virtual double inject(double delay_ns, CounterSource& source) noexcept = 0;
  // Likewise until that moment, of the clock of now_ns(), at once where it is past. It is wall time: what one
  // thread waits for, others wait for meanwhile. The CPU time that was spent.
  virtual double wait_until(std::uint64_t until_ns, CounterSource& source) noexcept = 0;
  // Of a clock that is the same in all processes. Async-signal-safe.
  virtual std::uint64_t now_ns() noexcept = 0;
};

// Busy-waits: a thread that waits for memory keeps its processor, and a sleep would be coarser and let it go.
// CPU time counts, since a thread that is not running does not wait for memory either.
class SpinInjector final : public Injector {
 public:
  explicit SpinInjector(const Clock& clock);
  double inject(double delay_ns, CounterSource& source) noexcept override;
  double wait_until(std::uint64_t until_ns, CounterSource& source) noexcept override;
  std::uint64_t now_ns() noexcept override { return monotonic_raw_ns(); }

 private:
  void spin(double wall_ns, CounterSource& source) noexcept;

  const Clock* clock_;
  std::uint64_t visit_ticks_;
};

}  // namespace nvmemu
