// SPDX-License-Identifier: Apache-2.0
#include "base/write_signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace nvmemu {
namespace {

// These calls go to the kernel directly: the C library's names may be interposed, by the emulator itself
// among others.
using KernelSignals = std::uint64_t;

constexpr KernelSignals signal_bit(int signal) { return KernelSignals{1} << (signal - 1); }

constexpr KernelSignals kSignals = signal_bit(SIGPIPE) | signal_bit(SIGXFSZ);

}  // namespace

WriteSignals::WriteSignals() noexcept {
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kSignals, &previous_, sizeof(KernelSignals));
  syscall(SYS_rt_sigpending, &pending_, sizeof(KernelSignals));
}

WriteSignals::~WriteSignals() {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &previous_, nullptr, sizeof(KernelSignals));
}

void WriteSignals::discard(int error) const noexcept {
  if (error != EPIPE && error != EFBIG) return;
  const KernelSignals raised = signal_bit(error == EPIPE ? SIGPIPE : SIGXFSZ) & ~pending_;
  if (raised == 0) return;
  const timespec at_once{};
  while (syscall(SYS_rt_sigtimedwait, &raised, nullptr, &at_once, sizeof(KernelSignals)) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace nvmemu
