// SPDX-License-Identifier: Apache-2.0
#include "endings.h"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "base/raw_syscall.h"
#include "hooks.h"
#include "kernel_signals.h"
#include "lifecycle.h"
#include "node_usage.h"
#include "runtime.h"
#include "signal_entry.h"
#include "thread_state.h"

namespace nvmemu::preload {
namespace {

constexpr int kEndings[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGPIPE, SIGALRM, SIGTERM,  SIGUSR1,
                            SIGUSR2, SIGXCPU, SIGXFSZ, SIGPROF, SIGSYS,  SIGTRAP, SIGVTALRM};

struct sigaction our_action() {
  struct sigaction action {};
  action.sa_sigaction = reinterpret_cast<void (*)(int, siginfo_t*, void*)>(&nvmemu_signal_entry);
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  add_to(action.sa_mask, kAllButForced);
  return action;
}

// The instruction that faulted will fault again, now with the default action.
bool repeats_itself(int signal, const siginfo_t& info) {
  const bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
  return is_fault && info.si_code > 0;  // not sent by a process
}

}  // namespace

void install_endings() noexcept {
  const struct sigaction ours = our_action();
  for (const int signal : kEndings) {
    struct sigaction current {};
    if (hooks::sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
    set_in_kernel(signal, ours);
  }
}

bool is_ending(int signal) noexcept {
  return std::find(std::begin(kEndings), std::end(kEndings), signal) != std::end(kEndings);
}

int ending_sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  const struct sigaction ours = our_action();
  const bool is_default = action != nullptr && action->sa_handler == SIG_DFL;
  const int status = hooks::sigaction(signal, is_default ? &ours : action, old);
  if (status == 0 && is_default) set_in_kernel(signal, ours);
  if (status == 0 && old != nullptr && old->sa_handler != as_program_sees(old->sa_handler)) {
    *old = {};
    old->sa_handler = SIG_DFL;
  }
  return status;
}

sighandler_t as_program_sees(sighandler_t handler) noexcept {
  return handler == our_action().sa_handler ? SIG_DFL : handler;
}

// By the kernel's own call: of one by the C library the pager would keep the handler.
void end_at_once(int signal, const siginfo_t& info) noexcept {
  const KernelAction by_default{};
  raw_syscall(SYS_rt_sigaction, signal, &by_default, nullptr, sizeof by_default.mask);
  if (!repeats_itself(signal, info))
    raw_syscall(SYS_tgkill, raw_syscall(SYS_getpid), raw_syscall(SYS_gettid), signal);
}

void end_by(int signal, const siginfo_t& info, SignalMask programs_mask) {
  this_thread().end(programs_mask);
  Runtime::get().note_user_time();
  if (Runtime::get().is_this_process()) {
    note_end(Runtime::get().nodes());
    renounce_report();
  }
  end_at_once(signal, info);
}

}  // namespace nvmemu::preload
