// SPDX-License-Identifier: Apache-2.0
// Names of what /proc tells of the calling process. Async-signal-safe.
#pragma once

#include <sys/syscall.h>

#include <charconv>
#include <string_view>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

// Whether `path` is /proc/self, /proc/thread-self or /proc/PID, with `name` ("/status") behind it.
inline bool is_own_file_of_proc(std::string_view path, std::string_view name) noexcept {
  constexpr std::string_view kProc = "/proc/";
  if (!path.starts_with(kProc)) return false;
  path.remove_prefix(kProc.size());
  if (!path.ends_with(name)) return false;
  const std::string_view whose = path.substr(0, path.size() - name.size());
  if (whose == "self" || whose == "thread-self") return true;
  long pid = 0;
  const auto [end, error] = std::from_chars(whose.data(), whose.data() + whose.size(), pid);
  return error == std::errc() && end == whose.data() + whose.size() && pid == raw_syscall(SYS_getpid);
}

}  // namespace nvmemu::preload
