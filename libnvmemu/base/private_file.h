// SPDX-License-Identifier: Apache-2.0
// Files that processes of one user share by mapping them. Async-signal-safe.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "base/raw_syscall.h"

namespace nvmemu {

// How large files may grow here: to try more is to be sent SIGXFSZ.
inline std::uint64_t most_file_bytes() noexcept {
  rlimit limit{};
  const long result = raw_syscall(SYS_prlimit64, 0, static_cast<int>(RLIMIT_FSIZE), nullptr, &limit);
  return result != 0 || limit.rlim_cur == RLIM_INFINITY ? ~std::uint64_t{0} : limit.rlim_cur;
}
inline bool files_may_hold(std::uint64_t bytes) noexcept { return most_file_bytes() >= bytes; }

// Whoever else could write to it, or cut it short under the mapping, could do as much to the process.
inline bool is_this_users_alone(const struct stat& status) noexcept {
  return status.st_uid == geteuid() && (status.st_mode & 077) == 0 && status.st_nlink <= 1;
}

}  // namespace nvmemu
