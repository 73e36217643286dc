// SPDX-License-Identifier: Apache-2.0
#include "epoch/injector.h"

namespace nvmemu {
namespace {

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

double SpinInjector::inject(double delay_ns) noexcept {
  const std::uint64_t start_ns = thread_cpu_ns();
  double spent_ns = 0;
  while (spent_ns < delay_ns) {
    // Wall time is cheap to read, and can only run ahead: while the thread was preempted, say.
    const std::uint64_t start = clock_->now_ticks();
    const std::uint64_t ticks = clock_->to_ticks(delay_ns - spent_ns);
    while (clock_->now_ticks() - start < ticks) relax();
    spent_ns = static_cast<double>(thread_cpu_ns() - start_ns);
  }
  return spent_ns;
}

}  // namespace nvmemu
