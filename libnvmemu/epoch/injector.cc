// SPDX-License-Identifier: Apache-2.0
#include "epoch/injector.h"

#include "base/relaxed.h"

namespace nvmemu {
namespace {

constexpr double kVisitNs = 200;  // about what a miss takes

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

SpinInjector::SpinInjector(const Clock& clock) : clock_(&clock), visit_ticks_(clock.to_ticks(kVisitNs)) {}

void SpinInjector::spin(double wall_ns, CounterSource& source, WaitProgress& progress) const {
  const double before_ns = progress.spent_ns.load(kRelaxed);
  const std::uint64_t start = clock_->now_ticks();
  const std::uint64_t ticks = clock_->to_ticks(wall_ns);
  std::uint64_t next_visit = 0;
  for (std::uint64_t passed = 0; passed < ticks; passed = clock_->now_ticks() - start) {
    if (passed >= next_visit) {
      if (progress.over.load(kRelaxed)) return;
      progress.spent_ns.store(before_ns + clock_->to_ns(passed), kRelaxed);
      source.keep_warm();
      next_visit = passed + visit_ticks_;
    }
    relax();
  }
}

// A clock that stands still (the kernel refuses it) must not hold the program for ever: what was spun is what
// there is then.
void SpinInjector::inject(double delay_ns, CounterSource& source, WaitProgress& progress) {
  const std::uint64_t start_ns = thread_cpu_ns();
  for (double spent_ns = 0; spent_ns < delay_ns;) {
    // Wall time is cheap to read, and can only run ahead: while the thread was preempted, say.
    spin(delay_ns - spent_ns, source, progress);
    if (progress.over.load(kRelaxed)) return;
    const double before_ns = spent_ns;
    spent_ns = static_cast<double>(thread_cpu_ns() - start_ns);
    if (spent_ns <= before_ns) return;
    progress.spent_ns.store(spent_ns, kRelaxed);
  }
}

void SpinInjector::wait_until(std::uint64_t until_ns, CounterSource& source, WaitProgress& progress) {
  const std::uint64_t start_ns = thread_cpu_ns();
  for (std::uint64_t now = now_ns(), before = 0; now < until_ns && now > before;
       before = now, now = now_ns()) {
    spin(static_cast<double>(until_ns - now), source, progress);
    if (progress.over.load(kRelaxed)) return;
    progress.spent_ns.store(static_cast<double>(thread_cpu_ns() - start_ns), kRelaxed);
  }
}

}  // namespace nvmemu
