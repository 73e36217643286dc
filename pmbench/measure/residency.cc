// SPDX-License-Identifier: Apache-2.0
#include "measure/residency.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/raw_syscall.h"

namespace nvmemu::pmbench {

FaultCounts thread_faults() noexcept {
  rusage usage{};
  raw_syscall(SYS_getrusage, int{RUSAGE_THREAD}, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt),
          static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

bool is_resident(const void* address) noexcept {
  static const auto kPageBytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  unsigned char residency = 0;
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) & ~(kPageBytes - 1);
  const long result = raw_syscall(SYS_mincore, page, kPageBytes, &residency);
  return result == 0 && (residency & 1) != 0;
}

double measure_class_cost_ns(const void* memory) noexcept {
  constexpr int kRounds = 64;
  std::uint64_t best_ns = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kRounds; ++i) {
    const std::uint64_t start_ns = monotonic_raw_ns();
    is_resident(memory);
    thread_faults();
    thread_faults();
    best_ns = std::min(best_ns, monotonic_raw_ns() - start_ns);
  }
  return static_cast<double>(best_ns);
}

}  // namespace nvmemu::pmbench
