// SPDX-License-Identifier: Apache-2.0
// What a descriptor, or AT_FDCWD, is open on. Async-signal-safe.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <string_view>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

using Path = char[PATH_MAX];

// The path, in `out`, without a zero behind it; empty where that cannot be told.
inline std::string_view path_of_descriptor(int fd, Path& out) noexcept {
  constexpr std::string_view kDescriptors = "/proc/self/fd/";
  char link[32] = "/proc/self/cwd";
  if (fd != AT_FDCWD) {
    if (fd < 0) return {};
    char* const first = std::copy(kDescriptors.begin(), kDescriptors.end(), link);
    char* at = first;  // printf and its kind are not for signal handlers
    do *at++ = static_cast<char>('0' + fd % 10);
    while ((fd /= 10) > 0);
    std::reverse(first, at);
    *at = '\0';
  }
  const long length = raw_syscall(SYS_readlinkat, AT_FDCWD, link, static_cast<char*>(out), sizeof out);
  return is_error(length) ? std::string_view() : std::string_view(out, static_cast<std::size_t>(length));
}

}  // namespace nvmemu::preload
