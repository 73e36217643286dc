// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace nvmemu {

// Closes what this process has open from `first` on.
inline void close_descriptors_from(int first) noexcept {
  constexpr int kMostClosed = 65536;  // by kernels before 5.9, which have no call for it
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  // One by one takes minutes where a thousand million are allowed.
  for (int fd = std::min(static_cast<int>(sysconf(_SC_OPEN_MAX)), kMostClosed) - 1; fd >= first; --fd)
    close(fd);
}

}  // namespace nvmemu
