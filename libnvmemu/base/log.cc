// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nvmemu {
namespace {

constinit std::atomic<LogLevel> g_level{LogLevel::kWarning};

constexpr std::string_view kPrefix = "nvmemu: ";
constexpr std::size_t kLongestMessage = 1024;

// A signal set as the kernel has it. These calls go to the kernel directly: the C library's names may be
// interposed, by the emulator itself among others.
using KernelSignals = std::uint64_t;

constexpr KernelSignals signal_bit(int signal) { return KernelSignals{1} << (signal - 1); }

// Holds back, on this thread, the signals that a failed write raises, so that a stderr that leads nowhere any
// more does not end the program: SIGPIPE (its reader has gone) and SIGXFSZ (its file is at the limit).
class WriteSignalGuard {
 public:
  WriteSignalGuard() noexcept {
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kSignals, &previous_, sizeof(KernelSignals));
    syscall(SYS_rt_sigpending, &pending_, sizeof(KernelSignals));
  }

  ~WriteSignalGuard() {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &previous_, nullptr, sizeof(KernelSignals));
  }

  WriteSignalGuard(const WriteSignalGuard&) = delete;
  WriteSignalGuard& operator=(const WriteSignalGuard&) = delete;

  // Takes back what the write raised; what the program had waiting before stays.
  void discard(int signal) const noexcept {
    const KernelSignals raised = signal_bit(signal) & ~pending_;
    if (raised == 0) return;
    const timespec at_once{};
    while (syscall(SYS_rt_sigtimedwait, &raised, nullptr, &at_once, sizeof(KernelSignals)) < 0 &&
           errno == EINTR) {
    }
  }

 private:
  static constexpr KernelSignals kSignals = signal_bit(SIGPIPE) | signal_bit(SIGXFSZ);
  KernelSignals previous_ = 0;
  KernelSignals pending_ = 0;
};

void write_guarded(const char* data, std::size_t size) noexcept {
  const WriteSignalGuard guard;
  ssize_t written = 0;
  do {
    written = ::write(STDERR_FILENO, data, size);
  } while (written < 0 && errno == EINTR);
  if (written < 0 && errno == EPIPE) guard.discard(SIGPIPE);
  if (written < 0 && errno == EFBIG) guard.discard(SIGXFSZ);
}

void log_at(LogLevel level, std::string_view text) noexcept {
  if (level > log_level()) return;
  const int kept_errno = errno;
  std::array<char, kLongestMessage> message{};
  const std::size_t length = std::min(text.size(), message.size() - kPrefix.size() - 1);
  std::memcpy(message.data(), kPrefix.data(), kPrefix.size());
  if (length > 0) std::memcpy(message.data() + kPrefix.size(), text.data(), length);
  message[kPrefix.size() + length] = '\n';
  write_guarded(message.data(), kPrefix.size() + length + 1);
  errno = kept_errno;
}

}  // namespace

void set_log_level(LogLevel level) noexcept { g_level.store(level, std::memory_order_relaxed); }
LogLevel log_level() noexcept { return g_level.load(std::memory_order_relaxed); }

void write_to_stderr(std::string_view text) noexcept {
  const int kept_errno = errno;
  write_guarded(text.data(), text.size());
  errno = kept_errno;
}

void log_warning(std::string_view text) noexcept { log_at(LogLevel::kWarning, text); }
void log_info(std::string_view text) noexcept { log_at(LogLevel::kInfo, text); }
void log_debug(std::string_view text) noexcept { log_at(LogLevel::kDebug, text); }

}  // namespace nvmemu
