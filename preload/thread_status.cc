// SPDX-License-Identifier: Apache-2.0
#include "thread_status.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <charconv>

#include "base/raw_syscall.h"

namespace nvmemu::preload {

bool StatusSearch::take(std::string_view piece) noexcept {
  for (const char c : piece) {
    if (c == '\n' ? ends_line() : (append(c), false)) return true;
  }
  return false;
}

void StatusSearch::append(char c) noexcept {
  if (length_ < sizeof line_) line_[length_++] = c;
}

bool StatusSearch::ends_line() noexcept {
  const std::string_view line(line_, length_);
  length_ = 0;
  constexpr std::string_view kBetween = ":\t";
  if (!line.starts_with(name_) || !line.substr(name_.size()).starts_with(kBetween)) return false;
  const std::string_view digits = line.substr(name_.size() + kBetween.size());
  return std::from_chars(digits.begin(), digits.end(), number_, 16).ec == std::errc();
}

std::optional<std::uint64_t> thread_status(std::string_view name) noexcept {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return std::nullopt;
  StatusSearch search(name);
  bool found = false;
  char piece[128];
  for (long length = 1; !found && length > 0;) {
    length = raw_syscall(SYS_read, fd, piece, sizeof piece);
    if (length > 0) found = search.take({piece, static_cast<std::size_t>(length)});
  }
  raw_syscall(SYS_close, fd);
  return found ? std::optional(search.number()) : std::nullopt;
}

}  // namespace nvmemu::preload
