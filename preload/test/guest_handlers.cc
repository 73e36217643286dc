// SPDX-License-Identifier: Apache-2.0
// Handlers of programs, by every name that sets one: they run as they would natively, and the emulation goes
// on.
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "guest.h"
#include "kernel_sigaction.h"

extern "C" {
sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;
sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept;
}

namespace nvmemu::guest {
namespace {

std::atomic<int> seen;
void count(int) { ++seen; }
void other(int) {}

bool is_blocked(int signal_number) {
  sigset_t now;
  CHECK(pthread_sigmask(SIG_BLOCK, nullptr, &now) == 0);
  return sigismember(&now, signal_number) == 1;
}

// More names of signal(), and of what it is to programs that ask for System V's.
void set_by_other_names(int number) {
  using SetHandler = sighandler_t (*)(int, sighandler_t);
  seen = 0;
  for (const SetHandler set : {SetHandler{ssignal}, SetHandler{bsd_signal}}) {
    CHECK(set(number, count) == SIG_DFL);
    raise(number);
    raise(number);  // it stays
    CHECK(set(number, SIG_DFL) == count);
  }
  CHECK(seen == 4);
  CHECK(sysv_signal(number, count) == SIG_DFL);
  raise(number);
  CHECK(seen == 5 && sysv_signal(number, SIG_DFL) == SIG_DFL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Each of them, for a signal that the emulator needs, one that it ends by, and one that is nothing to it.
int old_signals() {
  for (const int number : {SIGWINCH, SIGTRAP, SIGSEGV, SIGUSR1, SIGCHLD}) {
    seen = 0;
    CHECK(__sysv_signal(number, count) == SIG_DFL);
    raise(number);
    CHECK(seen == 1);
    CHECK(__sysv_signal(number, count) == SIG_DFL);  // it was good for once
    CHECK(sigset(number, count) == count);
    raise(number);
    CHECK(seen == 2);
    CHECK(sighold(number) == 0 && is_blocked(number));
    CHECK(sigset(number, count) == SIG_HOLD && !is_blocked(number));
    CHECK(sigset(number, SIG_HOLD) == count && is_blocked(number));
    CHECK(sigrelse(number) == 0 && !is_blocked(number));
    CHECK(sigblock(1 << (number - 1)) == 0 && is_blocked(number));
    CHECK(sigsetmask(0) == 1 << (number - 1) && !is_blocked(number));
    CHECK(siginterrupt(number, 1) == 0);
    struct sigaction now {};
    CHECK(sigaction(number, nullptr, &now) == 0);
    CHECK(now.sa_handler == count && (now.sa_flags & SA_RESTART) == 0);
    CHECK(sigignore(number) == 0);
    raise(number);
    CHECK(seen == 2);
    CHECK(signal(number, SIG_DFL) == SIG_IGN);
    set_by_other_names(number);
  }
  walk_list(kDelayedMs);
  return 0;
}

#pragma GCC diagnostic pop

// Pointers to nothing are the kernel's to refuse, SIGSEGV blocked or not, and what is asked for is done where
// only the answer has no place.
void name_bad_memory_by_number() {
  void* const nowhere[] = {reinterpret_cast<void*>(16), reinterpret_cast<void*>(-16L),
                           reinterpret_cast<void*>(1UL << 62)};
  const auto is_refused = [](long result) { return result == -1 && errno == EFAULT; };
  sigset_t faults;
  sigemptyset(&faults);
  sigaddset(&faults, SIGSEGV);
  CHECK(sigprocmask(SIG_BLOCK, &faults, nullptr) == 0);
  for (void* const bad : nowhere) {
    for (const int number : {SIGWINCH, SIGTRAP, SIGSEGV, SIGTERM}) {
      CHECK(is_refused(syscall(SYS_rt_sigaction, number, bad, nullptr, 8)));
      CHECK(is_refused(syscall(SYS_rt_sigaction, number, nullptr, bad, 8)));
    }
    CHECK(is_refused(syscall(SYS_rt_sigprocmask, SIG_SETMASK, bad, nullptr, 8)));
    CHECK(is_refused(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, bad, 8)));
    CHECK(is_refused(syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, bad, 8)) && !is_blocked(SIGSEGV));
    CHECK(sigprocmask(SIG_BLOCK, &faults, nullptr) == 0);
  }
  CHECK(sigprocmask(SIG_UNBLOCK, &faults, nullptr) == 0);
}

// By number, as runtimes do that bring no C library's wrapper.
int raw_signals() {
  for (const int number : {SIGWINCH, SIGTRAP, SIGSEGV, SIGTERM}) {
    seen = 0;
    KernelSigaction before{};
    CHECK(syscall(SYS_rt_sigaction, number, nullptr, &before, 8) == 0);
    CHECK(before.handler == SIG_DFL);
    CHECK(signal(number, other) == SIG_DFL);
    CHECK(syscall(SYS_rt_sigaction, number, nullptr, &before, 8) == 0);
    CHECK(before.handler == other);
    KernelSigaction action = before;  // with what the C library returns by
    action.handler = count;
    CHECK(syscall(SYS_rt_sigaction, number, &action, &before, 8) == 0);
    CHECK(before.handler == other);
    raise(number);
    CHECK(seen == 1);
    CHECK(signal(number, SIG_DFL) == count);
  }
  name_bad_memory_by_number();
  const unsigned long all = ~0UL;
  unsigned long now = 0;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8) == 0);
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &now, 8) == 0);
  CHECK((now >> (SIGWINCH - 1) & 1) == 1 && (now >> (SIGUSR1 - 1) & 1) == 1);
  walk_list(kDelayedMs);
  return 0;
}

void* look_what_is_blocked(void*) {
  CHECK(is_blocked(SIGWINCH) && is_blocked(SIGUSR1) && !is_blocked(SIGTRAP));
  return nullptr;
}

// The program sees the mask that it has set, in its threads too.
int blocked_as_seen() {
  sigset_t set;
  sigset_t before;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  sigaddset(&set, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &set, &before) == 0 && sigismember(&before, SIGWINCH) == 0);
  CHECK(is_blocked(SIGWINCH) && is_blocked(SIGUSR1) && !is_blocked(SIGTRAP));
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, look_what_is_blocked, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  walk_list(kDelayedMs);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, &before) == 0 && sigismember(&before, SIGWINCH) == 1);
  CHECK(!is_blocked(SIGWINCH));
  return 0;
}

void block_all(int) {
  sigset_t set;
  sigfillset(&set);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0 && is_blocked(SIGWINCH));
}
void unblock_in_context(int, siginfo_t*, void* context) {
  sigemptyset(&static_cast<ucontext_t*>(context)->uc_sigmask);
}

// What a handler blocks is open when it has returned, as the kernel has it; and so is what it lets through in
// its context, or whoever jumps out of it by the mask that he has kept. (SBCL looks.)
int masks_end_with_handlers() {
  CHECK(signal(SIGUSR1, block_all) != SIG_ERR);
  raise(SIGUSR1);
  CHECK(!is_blocked(SIGWINCH) && !is_blocked(SIGUSR2));
  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGUSR1);
  static sigjmp_buf before;
  if (sigsetjmp(before, 1) == 0) {
    CHECK(sigprocmask(SIG_BLOCK, &set, nullptr) == 0 && is_blocked(SIGWINCH));
    siglongjmp(before, 1);
  }
  CHECK(!is_blocked(SIGWINCH) && !is_blocked(SIGUSR2));
  struct sigaction action {};
  action.sa_sigaction = unblock_in_context;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGUSR1, &action, nullptr) == 0 && sigprocmask(SIG_BLOCK, &set, nullptr) == 0);
  CHECK(is_blocked(SIGWINCH) && is_blocked(SIGUSR2));
  raise(SIGUSR1);
  CHECK(!is_blocked(SIGWINCH) && !is_blocked(SIGUSR2));
  walk_list(kDelayedMs);
  return 0;
}

std::atomic<int> depth, deepest, to_raise;
void look_deep(int number) {
  const int now = ++depth;
  if (now > deepest) deepest = now;
  if (to_raise-- > 0) raise(number);
  --depth;
}

// Two of a kind that are pending are one: a SIGWINCH that is raised while a tick is pending, which is one,
// too, is lost.
int raise_within(int number) {
  constexpr int kTicksInARow = 5;
  for (int lost = 0; lost < (number == SIGWINCH ? kTicksInARow : 1); ++lost) {
    deepest = 0;
    to_raise = 2;
    raise(number);
    if (to_raise == -1) break;
  }
  CHECK(to_raise == -1);
  return deepest;
}

std::atomic<bool> other_was_blocked;
void look_at_mask(int) { other_was_blocked = is_blocked(SIGUSR2); }

// sa_mask, SA_NODEFER and SA_RESETHAND.
int handler_masks() {
  for (const int number : {SIGWINCH, SIGTRAP, SIGSEGV, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = look_deep;
    CHECK(sigaction(number, &action, nullptr) == 0);
    CHECK(raise_within(number) == 1);
    action.sa_flags = SA_NODEFER;
    CHECK(sigaction(number, &action, nullptr) == 0);
    CHECK(raise_within(number) == 3);
    action.sa_handler = look_at_mask;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaddset(&action.sa_mask, SIGUSR2);
    CHECK(sigaction(number, &action, nullptr) == 0);
    raise(number);
    CHECK(other_was_blocked && !is_blocked(SIGUSR2));
    CHECK(sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_DFL);
    other_was_blocked = false;
  }
  walk_list(kDelayedMs);
  return 0;
}

std::atomic<int> called;
void count_call(int) { ++called; }

// Faults that were sent, and are blocked, come when they are let through, and not before.
int pending_faults() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    struct sigaction action {};
    action.sa_handler = count_call;
    CHECK(sigaction(number, &action, nullptr) == 0);
    sigset_t set;
    CHECK(sigemptyset(&set) == 0 && sigaddset(&set, number) == 0);
    CHECK(sigprocmask(SIG_BLOCK, &set, nullptr) == 0);
    called = 0;
    raise(number);
    walk_list(kDelayedMs / 5);
    CHECK(called == 0);
    CHECK(sigprocmask(SIG_UNBLOCK, &set, nullptr) == 0 && called == 1);
  }
  walk_list(kDelayedMs);
  return 0;
}

constexpr Scenario kHandlers[] = {
    {"old-signals", old_signals},         {"raw-signals", raw_signals},
    {"blocked-as-seen", blocked_as_seen}, {"masks-end-with-handlers", masks_end_with_handlers},
    {"handler-masks", handler_masks},     {"pending-faults", pending_faults},
};

}  // namespace

std::span<const Scenario> handler_scenarios() { return kHandlers; }

}  // namespace nvmemu::guest
