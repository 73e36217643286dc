// SPDX-License-Identifier: Apache-2.0
// Names of what /proc tells of processes. Async-signal-safe.
#pragma once

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

inline constexpr long kOwnProcess = 0;

// Of which process `path` is the file `name` ("/status"): of /proc/self, /proc/thread-self or /proc/PID.
// Nothing where it is something else.
inline std::optional<long> process_of_file(std::string_view path, std::string_view name) noexcept {
  constexpr std::string_view kProc = "/proc/";
  if (!path.starts_with(kProc)) return std::nullopt;
  path.remove_prefix(kProc.size());
  if (!path.ends_with(name)) return std::nullopt;
  const std::string_view whose = path.substr(0, path.size() - name.size());
  if (whose == "self" || whose == "thread-self") return kOwnProcess;
  long pid = 0;
  const auto [end, error] = std::from_chars(whose.data(), whose.data() + whose.size(), pid);
  if (error != std::errc() || end != whose.data() + whose.size() || pid <= 0) return std::nullopt;
  return pid == raw_syscall(SYS_getpid) ? kOwnProcess : pid;
}

inline bool is_own_file_of_proc(std::string_view path, std::string_view name) noexcept {
  return process_of_file(path, name) == kOwnProcess;
}

// "/proc/PID/NAME", `name` with its slash (of at most 40 characters).
class FileOfProc {
 public:
  FileOfProc(long pid, std::string_view name) noexcept {
    constexpr std::string_view kProc = "/proc/", kSelf = "self";
    char* at = std::copy(kProc.begin(), kProc.end(), path_.data());
    at = pid == kOwnProcess ? std::copy(kSelf.begin(), kSelf.end(), at) : std::to_chars(at, at + 20, pid).ptr;
    *std::copy(name.begin(), name.end(), at) = '\0';
  }
  const char* c_str() const noexcept { return path_.data(); }

 private:
  std::array<char, 72> path_;  // NOLINT(*-member-init): filled as far as it is read
};

}  // namespace nvmemu::preload
