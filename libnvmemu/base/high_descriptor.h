// SPDX-License-Identifier: Apache-2.0
// Descriptors of the emulator's own, on numbers that a program's do not come to: what it opens next has the
// number that it would have natively. Async-signal-safe.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include "base/raw_syscall.h"

namespace nvmemu {

inline constexpr int kHighDescriptor = 900;  // below 1024, to which shells limit descriptors

// What `fd` is, on a high number and closed on exec, in its place; `fd` itself where the limit is lower.
inline int raised(int fd) noexcept {
  const long high = raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kHighDescriptor);
  if (is_error(high)) return fd;
  raw_syscall(SYS_close, fd);
  return static_cast<int>(high);
}

}  // namespace nvmemu
