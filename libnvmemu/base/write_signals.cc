// SPDX-License-Identifier: Apache-2.0
#include "base/write_signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>

#include "base/raw_syscall.h"

namespace nvmemu {
namespace {

// These calls go to the kernel directly: the C library's names may be interposed, by the emulator itself
// among others, and a sandbox may end the process for some.
using KernelSignals = std::uint64_t;

constexpr KernelSignals signal_bit(int signal) { return KernelSignals{1} << (signal - 1); }

constexpr KernelSignals kSignals = signal_bit(SIGPIPE) | signal_bit(SIGXFSZ);

// Where a sandbox does not let it be taken: what is pending is discarded when it becomes ignored,
// sigaction(2).
void ignore_for_a_moment(int signal) noexcept {
  struct KernelAction {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    KernelSignals mask;
  };
  const KernelAction ignored{SIG_IGN, 0, nullptr, 0};
  KernelAction before{};
  if (raw_syscall(SYS_rt_sigaction, signal, &ignored, &before, sizeof(KernelSignals)) != 0) return;
  raw_syscall(SYS_rt_sigaction, signal, &before, nullptr, sizeof(KernelSignals));
}

}  // namespace

WriteSignals::WriteSignals() noexcept {
  raw_syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kSignals, &previous_, sizeof(KernelSignals));
  raw_syscall(SYS_rt_sigpending, &pending_, sizeof(KernelSignals));
}

WriteSignals::~WriteSignals() {
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &previous_, nullptr, sizeof(KernelSignals));
}

void WriteSignals::discard(int error) const noexcept {
  if (error != EPIPE && error != EFBIG) return;
  const KernelSignals raised = signal_bit(error == EPIPE ? SIGPIPE : SIGXFSZ) & ~pending_;
  if (raised == 0) return;
  const timespec at_once{};
  long taken = 0;
  do taken = raw_syscall(SYS_rt_sigtimedwait, &raised, nullptr, &at_once, sizeof(KernelSignals));
  while (taken == -EINTR);
  if (is_error(taken) && taken != -EAGAIN) ignore_for_a_moment(error == EPIPE ? SIGPIPE : SIGXFSZ);
}

}  // namespace nvmemu
