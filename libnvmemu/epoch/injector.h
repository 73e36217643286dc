// SPDX-License-Identifier: Apache-2.0
// Spins delays.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "counters/counter_source.h"

namespace nvmemu {

// How far a wait has come. The thread's own signal handlers run during it, and may leave it for good
// (siglongjmp): so what was spent is kept up to date on the way, and who has booked it in the meantime, in
// such a handler, says that it is over, upon which the wait ends. One thread and its handlers.
struct WaitProgress {
  std::atomic<double> spent_ns{0};  // CPU time
  std::atomic<bool> over{false};
};

// The seam for tests: what makes a thread wait. Not noexcept: the program may throw out of a handler that
// interrupts it.
class Injector {
 public:
  virtual ~Injector() = default;
  // Returns after the thread has spent at least `delay_ns` of CPU time, which `progress` then tells of, or
  // when that is over. Meanwhile `source`, the thread's, keeps its memory warm. Async-signal-safe.
  virtual void inject(double delay_ns, CounterSource& source, WaitProgress& progress) = 0;
  // Likewise until that moment, of the clock of now_ns(), at once where it is past. It is wall time: what one
  // thread waits for, others wait for meanwhile.
  virtual void wait_until(std::uint64_t until_ns, CounterSource& source, WaitProgress& progress) = 0;
  // Of a clock that is the same in all processes. Async-signal-safe.
  virtual std::uint64_t now_ns() noexcept = 0;
  // Of a clock of this process alone, in a few ns and without waiting for what is under way.
  // Async-signal-safe.
  virtual double quick_now_ns() noexcept { return static_cast<double>(now_ns()); }
};

// Busy-waits: a thread that waits for memory keeps its processor, and a sleep would be coarser and let it go.
// CPU time counts, since a thread that is not running does not wait for memory either.
class SpinInjector final : public Injector {
 public:
  explicit SpinInjector(const Clock& clock);
  void inject(double delay_ns, CounterSource& source, WaitProgress& progress) override;
  void wait_until(std::uint64_t until_ns, CounterSource& source, WaitProgress& progress) override;
  std::uint64_t now_ns() noexcept override { return monotonic_raw_ns(); }
  double quick_now_ns() noexcept override { return clock_->to_ns(clock_->now_ticks()); }

 private:
  void spin(double wall_ns, CounterSource& source, WaitProgress& progress) const;

  const Clock* clock_;
  std::uint64_t visit_ticks_;
};

}  // namespace nvmemu
