// SPDX-License-Identifier: Apache-2.0
// Files that processes of one user share by mapping them. Async-signal-safe.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>

namespace nvmemu {

// Whether files may grow that large here: to try, where they may not, is to be sent SIGXFSZ.
inline bool files_may_hold(std::size_t bytes) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

// Whoever else could write to it, or cut it short under the mapping, could do as much to the process.
inline bool is_this_users_alone(const struct stat& status) noexcept {
  return status.st_uid == geteuid() && (status.st_mode & 077) == 0 && status.st_nlink <= 1;
}

}  // namespace nvmemu
