// SPDX-License-Identifier: Apache-2.0
#include "resident_peak.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/raw_syscall.h"
#include "process_memory.h"

namespace nvmemu::preload {
namespace {

std::uint64_t peak_of_process() noexcept {
  constexpr std::uint64_t kKiB = 1024;
  struct rusage usage {};
  if (is_error(raw_syscall(SYS_getrusage, int{RUSAGE_SELF}, &usage))) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB;
}

}  // namespace

void ResidentPeak::open() noexcept { before_bytes_ = peak_of_process(); }

std::uint64_t ResidentPeak::bytes() const noexcept {
  const std::uint64_t bytes = peak_of_process();
  return bytes > before_bytes_ ? bytes : process_memory().resident;
}

}  // namespace nvmemu::preload
