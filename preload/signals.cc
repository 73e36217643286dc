// SPDX-License-Identifier: Apache-2.0
// Interposed: what a program does with the signals that the emulator uses.
#include <errno.h>
#include <signal.h>

#include "endings.h"
#include "handlers.h"
#include "hook.h"
#include "hooks.h"
#include "runtime.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(int, sigaction, (int, const struct sigaction*, struct sigaction*));
NVMEMU_HOOK(int, pthread_sigmask, (int, const sigset_t*, sigset_t*));
NVMEMU_HOOK(int, sigprocmask, (int, const sigset_t*, sigset_t*));
NVMEMU_HOOK(sighandler_t, signal, (int, sighandler_t));

// What the program may block: all but the emulator's signals.
class Blockable {
 public:
  Blockable(int how, const sigset_t* set) : set_(set) {
    if (set == nullptr || how == SIG_UNBLOCK || !Runtime::get().active()) return;
    copy_ = *set;
    sigdelset(&copy_, kTickSignal);
    sigdelset(&copy_, kTrapSignal);
    set_ = &copy_;
  }
  Blockable(const Blockable&) = delete;
  Blockable& operator=(const Blockable&) = delete;
  const sigset_t* get() const { return set_; }

 private:
  sigset_t copy_{};
  const sigset_t* set_;
};

// As the program sees it, which is not to notice the emulator's handlers. The child of a vfork borrows the
// parent's memory, but has signal actions of its own.
int program_sigaction(int signal, const struct sigaction* action, struct sigaction* old) {
  Runtime& runtime = Runtime::get();
  if (runtime.active() && runtime.is_this_process()) {
    if (is_kept(signal)) return kept_sigaction(signal, action, old);
    if (is_ending(signal)) return ending_sigaction(signal, action, old);
  }
  return real_sigaction(signal, action, old);
}

}  // namespace

namespace hooks {

int sigaction(int signal, const struct sigaction* action, struct sigaction* old) noexcept {
  return real_sigaction(signal, action, old);
}

int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return real_pthread_sigmask(how, set, old);
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
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;  // as BSD and glibc do
  struct sigaction old {};
  return program_sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

NVMEMU_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return real_pthread_sigmask(how, Blockable(how, set).get(), old);
}

NVMEMU_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  return real_sigprocmask(how, Blockable(how, set).get(), old);
}
