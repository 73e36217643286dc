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
  const std::uint64_t start = clock_->now_ticks();
  const std::uint64_t ticks = clock_->to_ticks(delay_ns);
  std::uint64_t passed = 0;
  while ((passed = clock_->now_ticks() - start) < ticks) relax();
  return clock_->to_ns(passed);
}

}  // namespace nvmemu
