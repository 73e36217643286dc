// SPDX-License-Identifier: Apache-2.0
// Handlers of programs, by every name that sets one: they run as they would natively, and the emulation goes
// on.
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "guest.h"
#include "nvmemu/nvmemu.h"

extern "C" {
sighandler_t __sysv_signal(int signal, sighandler_t handler) noexcept;
sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept;
}

namespace nvmemu::guest {
namespace {

// What it is to rt_sigaction(2).
struct KernelSigaction {
  sighandler_t handler;
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};

// At the end of each scenario: what delays come, once all is done that might keep them away.
void go_on() { walk_list(500); }

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
  go_on();
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
  go_on();
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
  go_on();
  CHECK(sigprocmask(SIG_UNBLOCK, &set, &before) == 0 && sigismember(&before, SIGWINCH) == 1);
  CHECK(!is_blocked(SIGWINCH));
  return 0;
}

struct Fault {};
void throw_fault(int) { throw Fault(); }

// Compiled with -fnon-call-exceptions.
int thrown_from_fault() {
  struct sigaction action {};
  action.sa_handler = throw_fault;
  action.sa_flags = SA_NODEFER;
  for (const int number : {SIGSEGV, SIGFPE}) {
    CHECK(sigaction(number, &action, nullptr) == 0);
    int caught = 0;
    volatile int zero = 0;
    for (int i = 0; i < 100; ++i) {
      try {
        if (number == SIGSEGV) *static_cast<volatile int*>(nullptr) = 1;
        if (number == SIGFPE) zero = 1 / zero;
      } catch (const Fault&) {
        ++caught;
      }
    }
    CHECK(caught == 100);
  }
  go_on();
  return 0;
}

std::atomic<int> depth, deepest, to_raise;
void look_deep(int number) {
  const int now = ++depth;
  if (now > deepest) deepest = now;
  if (to_raise-- > 0) raise(number);
  --depth;
}

int raise_within(int number) {
  deepest = 0;
  to_raise = 2;
  raise(number);
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
  go_on();
  return 0;
}

sigjmp_buf back;
void jump_back(int) { siglongjmp(back, 1); }
void jump_back_as_it_is(int) { longjmp(back, 1); }

// Every 3 ms: out of the program's code, and of what the emulator was at, delays for one.
void jump_often(sighandler_t handler, int keeps_mask) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_NODEFER;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval often{.it_interval = {0, 3000}, .it_value = {0, 3000}};
  const itimerval never{};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  static volatile int jumps;
  jumps = 0;
  if (sigsetjmp(back, keeps_mask) != 0) jumps = jumps + 1;
  while (jumps < 100) walk_list(50);
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
}

struct Alarm {};
volatile sig_atomic_t throws;
void throw_alarm(int) {
  if (throws == 0) return;
  throws = 0;
  throw Alarm();
}

[[gnu::noipa]] void walk_until_it_throws() {
  throws = 1;
  for (;;) walk_list(50);
}

// Every 3 ms an exception, that the program neither asks for nor knows the place of.
int thrown_from_alarm() {
  struct sigaction action {};
  action.sa_handler = throw_alarm;
  action.sa_flags = SA_NODEFER;
  CHECK(sigaction(SIGALRM, &action, nullptr) == 0);
  const itimerval often{.it_interval = {0, 3000}, .it_value = {0, 3000}};
  const itimerval never{};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  walk_list(1);  // which makes the list
  int caught = 0;
  while (caught < 200) try {
      walk_until_it_throws();
    } catch (const Alarm&) {
      ++caught;
    }
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  go_on();
  return 0;
}

int jumps_from_handlers() {
  walk_list(1);  // which makes it
  jump_often(jump_back, 1);
  jump_often(jump_back_as_it_is, 0);
  sigset_t mask;
  CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, 8) == 0);
  CHECK(sigismember(&mask, SIGWINCH) == 0);
  go_on();
  std::printf("%llu ns\n", static_cast<unsigned long long>(thread_cpu_ns()));
  return 0;
}

int ticks_blocked() {
  mask_ticks(SIG_BLOCK);
  walk_list(600);
  return 0;
}

// Waits for no memory, so that none of it is delays.
void compute(std::uint64_t ms) {
  const std::uint64_t end_ns = thread_cpu_ns() + ms * 1'000'000;
  while (thread_cpu_ns() < end_ns) {
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
  }
}

int ticks_blocked_in_one_of_four() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      if (i == 2) mask_ticks(SIG_BLOCK);
      compute(400);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

int ticks_ignored() {
  const KernelSigaction ignored{.handler = SIG_IGN, .flags = 0, .restorer = nullptr, .mask = 0};
  CHECK(raw_syscall(SYS_rt_sigaction, SIGWINCH, &ignored, nullptr, sizeof ignored.mask) == 0);
  walk_list(600);
  return 0;
}

int tells_progress() {
  for (int i = 0; i < 100; ++i) {
    walk_list(3);
    nvmemu_done(1);
  }
  return 0;
}

constexpr Scenario kHandlers[] = {
    {"tells-progress", tells_progress},
    {"ticks-blocked-behind-its-back", ticks_blocked},
    {"ticks-blocked-in-one-of-four", ticks_blocked_in_one_of_four},
    {"ticks-ignored-behind-its-back", ticks_ignored},
    {"old-signals", old_signals},
    {"raw-signals", raw_signals},
    {"blocked-as-seen", blocked_as_seen},
    {"thrown-from-fault", thrown_from_fault},
    {"thrown-from-alarm", thrown_from_alarm},
    {"handler-masks", handler_masks},
    {"jumps-from-handlers", jumps_from_handlers},
};

}  // namespace

std::span<const Scenario> handler_scenarios() { return kHandlers; }

}  // namespace nvmemu::guest
