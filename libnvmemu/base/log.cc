// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/quote.h"
#include "base/raw_syscall.h"
#include "base/write_signals.h"

namespace nvmemu {
namespace {

constinit std::atomic<LogLevel> g_level{LogLevel::kWarning};

constexpr std::string_view kPrefix = "nvmemu: ";
constexpr std::size_t kLongestMessage = 1024;

// What a descriptor leads to, as far as fstat() tells it: a file, a pipe, a terminal by its number.
struct Place {
  bool exists = false;
  std::uint64_t device = 0, inode = 0, special = 0;
  bool operator==(const Place&) const = default;
};

constinit Place g_stderr;
constinit std::atomic<bool> g_remembers{false};

Place place_of(int fd) noexcept {
  struct stat status {};
  if (raw_syscall(SYS_fstat, fd, &status) != 0) return {};
  return {true, status.st_dev, status.st_ino, status.st_rdev};
}

// By the system call: the C library's name for it may be interposed, by the emulator itself, which would take
// what it says for an edge of the program's.
void write_guarded(const char* data, std::size_t size) noexcept {
  if (!is_first_stderr()) return;
  const WriteSignals signals;
  long written = 0;
  do written = raw_syscall(SYS_write, STDERR_FILENO, data, size);
  while (written == -EINTR);
  if (is_error(written)) signals.discard(static_cast<int>(-written));
}

void log_at(LogLevel level, std::string_view text) noexcept {
  if (level > log_level()) return;
  const int kept_errno = errno;
  std::array<char, kLongestMessage> message{};
  const std::size_t length = std::min(text.size(), message.size() - kPrefix.size() - 1);
  std::memcpy(message.data(), kPrefix.data(), kPrefix.size());
  if (length > 0) std::memcpy(message.data() + kPrefix.size(), text.data(), length);
  make_printable(std::span(message).subspan(kPrefix.size(), length), "");
  message[kPrefix.size() + length] = '\n';
  write_guarded(message.data(), kPrefix.size() + length + 1);
  errno = kept_errno;
}

}  // namespace

void set_log_level(LogLevel level) noexcept { g_level.store(level, std::memory_order_relaxed); }
LogLevel log_level() noexcept { return g_level.load(std::memory_order_relaxed); }

void remember_stderr() noexcept {
  g_stderr = place_of(STDERR_FILENO);
  g_remembers.store(true, std::memory_order_release);
}

bool is_first_stderr() noexcept {
  return !g_remembers.load(std::memory_order_acquire) || place_of(STDERR_FILENO) == g_stderr;
}

void write_to_stderr(std::string_view text) noexcept {
  const int kept_errno = errno;
  write_guarded(text.data(), text.size());
  errno = kept_errno;
}

void log_warning(std::string_view text) noexcept { log_at(LogLevel::kWarning, text); }
void log_info(std::string_view text) noexcept { log_at(LogLevel::kInfo, text); }
void log_debug(std::string_view text) noexcept { log_at(LogLevel::kDebug, text); }

}  // namespace nvmemu
