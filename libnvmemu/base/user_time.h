// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstdint>

#include "base/raw_syscall.h"

namespace nvmemu {

// User-mode CPU time in ns, as the kernel's ticks found it: of the calling thread (RUSAGE_THREAD), or of all
// threads that the process has had (RUSAGE_SELF). 0 where the kernel does not tell. Async-signal-safe.
inline std::uint64_t user_time_ns(int whose) noexcept {
  rusage usage{};
  if (raw_syscall(SYS_getrusage, whose, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_utime.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(usage.ru_utime.tv_usec) * 1'000;
}

}  // namespace nvmemu
