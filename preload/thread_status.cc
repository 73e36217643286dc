// SPDX-License-Identifier: Apache-2.0
#include "thread_status.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <charconv>

#include "base/raw_syscall.h"

namespace nvmemu::preload {
namespace {

// The file by lines, of which only the beginning counts: "Groups" can be as long as it likes.
class Search {
 public:
  explicit Search(std::string_view name) : name_(name) {}

  // Whether the number is found by now.
  bool take(std::string_view piece) noexcept {
    for (const char c : piece) {
      if (c == '\n' ? ends_line() : (append(c), false)) return true;
    }
    return false;
  }
  std::uint64_t number() const noexcept { return number_; }

 private:
  void append(char c) noexcept {
    if (length_ < sizeof line_) line_[length_++] = c;
  }
  bool ends_line() noexcept {
    const std::string_view line(line_, length_);
    length_ = 0;
    constexpr std::string_view kBetween = ":\t";
    if (!line.starts_with(name_) || !line.substr(name_.size()).starts_with(kBetween)) return false;
    const std::string_view digits = line.substr(name_.size() + kBetween.size());
    return std::from_chars(digits.begin(), digits.end(), number_, 16).ec == std::errc();
  }

  std::string_view name_;
  char line_[64]{};
  std::size_t length_ = 0;
  std::uint64_t number_ = 0;
};

}  // namespace

std::optional<std::uint64_t> thread_status(std::string_view name) noexcept {
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return std::nullopt;
  Search search(name);
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
