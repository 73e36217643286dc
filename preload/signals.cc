// SPDX-License-Identifier: Apache-2.0
// Interposed: what a program does with the handlers of signals that the emulator uses.
#include <errno.h>
#include <signal.h>

#include "endings.h"
#include "hook.h"
#include "hooks.h"
#include "kept_signals.h"
#include "program_signals.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, sigaction, (int, const struct sigaction*, struct sigaction*));
NVMEMU_HOOK(sighandler_t, signal, (int, sighandler_t));
NVMEMU_HOOK(sighandler_t, __sysv_signal, (int, sighandler_t));
NVMEMU_HOOK(sighandler_t, sigset, (int, sighandler_t));
NVMEMU_HOOK(int, sigignore, (int));
NVMEMU_HOOK(int, siginterrupt, (int, int));

// The child of a vfork borrows the parent's memory, but has signal actions of its own.
bool is_ours_to_keep() noexcept {
  const Runtime& runtime = Runtime::get();
  return runtime.active() && runtime.is_this_process();
}

// What signal() and its kin come to. SIG_ERR with errno set.
sighandler_t set_handler(int signal, sighandler_t handler, int flags) noexcept {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  struct sigaction old {};
  return program_sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sigset_t set_of(int signal) noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  return set;
}

}  // namespace

bool is_handled_here(int signal) noexcept {
  return is_ours_to_keep() && (is_kept(signal) || is_ending(signal));
}

int program_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  if (is_ours_to_keep()) {
    if (is_kept(signal)) return kept_sigaction(signal, action, old);
    if (is_ending(signal)) return ending_sigaction(signal, action, old);
  }
  return real_sigaction(signal, action, old);
}

namespace hooks {

int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return real_sigaction(signal, action, old);
}

}  // namespace hooks
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return program_sigaction(signal, action, old);
}

NVMEMU_EXPORT sighandler_t signal(int signal, sighandler_t handler) noexcept {
  // The C library's own knows what siginterrupt(3) has asked for.
  const bool by_library = !is_kept(signal) && !(is_ending(signal) && handler == SIG_DFL);
  if (!Runtime::get().active() || by_library) return as_program_sees(real_signal(signal, handler));
  return set_handler(signal, handler, SA_RESTART);  // as BSD and glibc do
}

// Two more names of the same, in glibc.
NVMEMU_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}
NVMEMU_EXPORT sighandler_t ssignal(int number, sighandler_t handler) noexcept {
  return signal(number, handler);
}

// What signal() is to programs that ask for System V's or plain ISO C.
#undef sysv_signal
NVMEMU_EXPORT sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept {
  if (!is_handled_here(signal)) return real___sysv_signal(signal, handler);
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
NVMEMU_EXPORT sighandler_t sysv_signal(int signal, sighandler_t handler) noexcept {
  return __sysv_signal(signal, handler);
}

NVMEMU_EXPORT sighandler_t sigset(int signal, sighandler_t handler) noexcept {
  if (!is_handled_here(signal)) return real_sigset(signal, handler);
  const sigset_t set = set_of(signal);
  sigset_t before;
  struct sigaction old {};
  if (handler == SIG_HOLD) {
    program_sigaction(signal, nullptr, &old);
    program_sigprocmask(SIG_BLOCK, &set, &before);
  } else {
    old.sa_handler = set_handler(signal, handler, 0);
    if (old.sa_handler == SIG_ERR) return SIG_ERR;
    program_sigprocmask(SIG_UNBLOCK, &set, &before);
  }
  return sigismember(&before, signal) == 1 ? SIG_HOLD : old.sa_handler;
}

NVMEMU_EXPORT int sigignore(int signal) noexcept {
  if (!is_handled_here(signal)) return real_sigignore(signal);
  return set_handler(signal, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
}

NVMEMU_EXPORT int siginterrupt(int signal, int interrupts) noexcept {
  if (!is_handled_here(signal)) return real_siginterrupt(signal, interrupts);
  struct sigaction action {};
  if (program_sigaction(signal, nullptr, &action) != 0) return -1;
  action.sa_flags = interrupts != 0 ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
  return program_sigaction(signal, &action, nullptr);
}
