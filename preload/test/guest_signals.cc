// SPDX-License-Identifier: Apache-2.0
// What a program does with signals, those that the emulator uses among them.
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>

#include "guest.h"

namespace nvmemu::guest {
namespace {

std::atomic<int> signals_seen;
void count_signal(int) { ++signals_seen; }

// The program's own handlers: for the signal that ticks come by, and for one that ends a program by default.
int own_signals() {
  for (const int signal_number : {SIGWINCH, SIGTRAP}) {
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = count_signal;
    CHECK(sigaction(signal_number, &action, &before) == 0);
    CHECK(before.sa_handler == SIG_DFL);
    burn(50);
    CHECK(signals_seen == 0);
    raise(signal_number);
    CHECK(signals_seen == 1);
    signals_seen = 0;
    CHECK(sigaction(signal_number, nullptr, &before) == 0 && before.sa_handler == count_signal);
    CHECK(signal(signal_number, SIG_DFL) == count_signal);
  }
  raise(SIGWINCH);  // ignored by default
  return 0;
}

int default_trap() {
  raise(SIGTRAP);
  return 92;
}

sigjmp_buf after_fault;
void jump_back(int) { siglongjmp(after_fault, 1); }

int own_faults() {
  struct sigaction action {};
  action.sa_handler = jump_back;
  CHECK(sigaction(SIGSEGV, &action, nullptr) == 0);
  volatile int caught = 0;
  for (int i = 0; i < 100; ++i) {
    if (sigsetjmp(after_fault, 1) != 0) {
      caught = caught + 1;
      continue;
    }
    *static_cast<volatile int*>(nullptr) = 1;
  }
  CHECK(caught == 100);
  burn();
  return 0;
}

// By another, at any time: amid a delay, too, of which it is no fault.
int sent_faults() {
  CHECK(signal(SIGSEGV, count_signal) == SIG_DFL);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGSEGV;
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  walk_list(1);  // which makes it
  const itimerspec often{.it_interval = {0, 1'000'000}, .it_value = {0, 1'000'000}};
  CHECK(timer_settime(timer, 0, &often, nullptr) == 0);
  while (signals_seen < 300) walk_list(1);
  CHECK(timer_delete(timer) == 0);
  return 0;
}

int blocked_signals() {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  CHECK(sigprocmask(SIG_SETMASK, &all, nullptr) == 0);
  burn();
  return 0;
}

std::atomic<bool> was_on_alternate_stack;
char alternate_stack[65536];
void look_where(int) {
  char here = 0;
  was_on_alternate_stack = &here >= alternate_stack && &here < alternate_stack + sizeof alternate_stack;
}

int alternate_stacks() {
  const stack_t stack{.ss_sp = alternate_stack, .ss_flags = 0, .ss_size = sizeof alternate_stack};
  CHECK(sigaltstack(&stack, nullptr) == 0);
  struct sigaction action {};
  action.sa_handler = look_where;
  action.sa_flags = SA_ONSTACK;
  for (const int signal_number : {SIGUSR1, SIGUSR2, SIGTERM, SIGRTMAX}) {
    was_on_alternate_stack = false;
    CHECK(sigaction(signal_number, &action, nullptr) == 0);
    burn(20);
    raise(signal_number);
    CHECK(was_on_alternate_stack);
  }
  return 0;
}

int alarms() {
  CHECK(signal(SIGALRM, count_signal) == SIG_DFL);
  const itimerval each_5_ms{.it_interval = {0, 5000}, .it_value = {0, 5000}};
  CHECK(setitimer(ITIMER_REAL, &each_5_ms, nullptr) == 0);
  burn();
  CHECK(signals_seen >= 5);
  return 0;
}

int real_time_signals() {
  struct sigaction action {};
  action.sa_handler = count_signal;
  for (int signal_number = SIGRTMIN; signal_number <= SIGRTMAX; ++signal_number) {
    CHECK(sigaction(signal_number, &action, nullptr) == 0);
  }
  burn(50);
  for (int signal_number = SIGRTMIN; signal_number <= SIGRTMAX; ++signal_number) raise(signal_number);
  CHECK(signals_seen == SIGRTMAX - SIGRTMIN + 1);
  return 0;
}

// Signals that are waited for, not handled: in order, with their values, and none but those that were sent.
int waited_for_signals() {
  sigset_t set;
  sigfillset(&set);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  burn();
  for (int value = 0; value < 3; ++value) CHECK(sigqueue(getpid(), SIGRTMIN, {.sival_int = value}) == 0);
  for (int value = 0; value < 3; ++value) {
    siginfo_t info{};
    CHECK(sigwaitinfo(&set, &info) == SIGRTMIN && info.si_value.sival_int == value);
  }
  const timespec soon{.tv_sec = 0, .tv_nsec = 50000000};
  burn(50);
  CHECK(sigtimedwait(&set, nullptr, &soon) == -1 && errno == EAGAIN);
  const int fd = signalfd(-1, &set, 0);
  CHECK(fd >= 0);
  for (const unsigned signal :
       {SIGTERM, SIGURG}) {  // SIGURG: by which PostgreSQL's processes wake each other
    CHECK(kill(getpid(), static_cast<int>(signal)) == 0);
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    CHECK(poll(&readable, 1, 1000) == 1);
    signalfd_siginfo read_info{};
    CHECK(read(fd, &read_info, sizeof read_info) == sizeof read_info && read_info.ssi_signo == signal);
  }
  return 0;
}

// The signal by which ticks come, blocked: it is pending, then read from a descriptor, once; and a handler is
// called no sooner than it is let through.
int waited_for_window_changes() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  const int fd = signalfd(-1, &set, SFD_NONBLOCK);
  CHECK(fd >= 0);
  burn();
  CHECK(kill(getpid(), SIGWINCH) == 0);
  sigset_t pending;
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGWINCH) == 1);
  burn(50);
  signalfd_siginfo info{};
  CHECK(read(fd, &info, sizeof info) == sizeof info);
  CHECK(info.ssi_signo == SIGWINCH && info.ssi_code == SI_USER &&
        info.ssi_pid == static_cast<unsigned>(getpid()));
  burn(50);
  CHECK(read(fd, &info, sizeof info) == -1 && errno == EAGAIN);

  struct sigaction action {};
  action.sa_handler = count_signal;
  CHECK(sigaction(SIGWINCH, &action, nullptr) == 0);
  CHECK(kill(getpid(), SIGWINCH) == 0);
  CHECK(signals_seen == 0);
  CHECK(pthread_sigmask(SIG_UNBLOCK, &set, nullptr) == 0);
  CHECK(signals_seen == 1);
  return 0;
}

// Likewise of a thread beside one that computes, which looks for threads that nobody has told of: what it is
// sent it reads once, and nothing else ever comes.
int waits_for_window_changes_beside_another() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGWINCH);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    while (!is_over) burn(10);
  });
  CHECK(pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  burn(50);
  CHECK(pthread_kill(pthread_self(), SIGWINCH) == 0);
  const timespec soon{.tv_sec = 1, .tv_nsec = 0};
  CHECK(sigtimedwait(&set, nullptr, &soon) == SIGWINCH);
  for (int i = 0; i < 8; ++i) {
    burn(50);
    const timespec at_once{};
    CHECK(sigtimedwait(&set, nullptr, &at_once) == -1 && errno == EAGAIN);
  }
  is_over = true;
  other.join();
  return 0;
}

// Calls that the kernel never restarts: they return when their time is over, not before.
int uninterrupted_calls() {
  for (int i = 0; i < 10; ++i) {
    burn(15);
    const timespec pause_ns{.tv_sec = 0, .tv_nsec = 20000000};
    CHECK(nanosleep(&pause_ns, nullptr) == 0);
    CHECK(poll(nullptr, 0, 20) == 0);
  }
  return 0;
}

// The program looks at a thread's system calls (syscall user dispatch), and finds none where it makes none.
char looks_at_calls = 0;  // SYSCALL_DISPATCH_FILTER_ALLOW
int own_dispatch() {
  constexpr int kSetDispatch = 59;
  struct sigaction action {};
  action.sa_handler = [](int) {
    looks_at_calls = 0;
    ++signals_seen;
  };
  CHECK(sigaction(SIGSYS, &action, nullptr) == 0);
  if (prctl(kSetDispatch, 1, 0, 0, &looks_at_calls) != 0) return 0;  // before Linux 5.11
  burn(50);
  __atomic_store_n(&looks_at_calls, 1, __ATOMIC_SEQ_CST);
  for (unsigned long i = 0; i < 200'000'000; ++i) asm volatile("");
  __atomic_store_n(&looks_at_calls, 0, __ATOMIC_SEQ_CST);
  CHECK(signals_seen == 0);
  CHECK(prctl(kSetDispatch, 0, 0, 0, 0) == 0);
  return 0;
}

// All four debug registers are the program's.
int own_breakpoints() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.exclude_kernel = 1;
  static volatile std::uint64_t watched[4];
  int fds[4];
  for (int i = 0; i < 4; ++i) {
    attr.bp_addr = reinterpret_cast<std::uintptr_t>(&watched[i]);
    fds[i] = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
    if (fds[i] < 0) return burn(), 0;  // a machine without breakpoints has none to take away either
  }
  burn();
  for (int i = 0; i < 4; ++i) {
    watched[i] = 1;
    std::uint64_t count = 0;
    CHECK(read(fds[i], &count, sizeof count) == sizeof count && count == 1);
  }
  return 0;
}

#if defined(__x86_64__)
__attribute__((no_stack_protector)) unsigned long thread_pointer() {
  unsigned long pointer = 0;
  CHECK(syscall(SYS_arch_prctl, ARCH_GET_FS, &pointer) == 0);
  return pointer;
}
__attribute__((no_stack_protector)) void set_thread_pointer(unsigned long pointer) {
  syscall(SYS_arch_prctl, ARCH_SET_FS, pointer);
}
#elif defined(__aarch64__)
__attribute__((no_stack_protector)) unsigned long thread_pointer() {
  unsigned long pointer = 0;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}
__attribute__((no_stack_protector)) void set_thread_pointer(unsigned long pointer) {
  asm volatile("msr tpidr_el0, %0" : : "r"(pointer));
}
#endif

// For a while the thread pointer is the program's own, as Go's runtime has it: nothing thread-local can be
// reached.
__attribute__((no_stack_protector)) int own_thread_pointer() {
  static void* area[512];
  area[256] = &area[256];
  const unsigned long library_pointer = thread_pointer();
  set_thread_pointer(reinterpret_cast<unsigned long>(&area[256]));
  for (unsigned long i = 0; i < 200000000; ++i) asm volatile("");
  set_thread_pointer(library_pointer);
  CHECK(area[255] == nullptr && area[257] == nullptr);
  return 0;
}

constexpr Scenario kSignals[] = {
    {"own-thread-pointer", own_thread_pointer},
    {"alternate-stacks", alternate_stacks},
    {"alarms", alarms},
    {"real-time-signals", real_time_signals},
    {"waited-for-signals", waited_for_signals},
    {"waited-for-window-changes", waited_for_window_changes},
    {"waits-beside-another", waits_for_window_changes_beside_another},
    {"uninterrupted-calls", uninterrupted_calls},
    {"own-breakpoints", own_breakpoints},
    {"own-dispatch", own_dispatch},
    {"own-signals", own_signals},
    {"default-trap", default_trap},
    {"own-faults", own_faults},
    {"sent-faults", sent_faults},
    {"blocked-signals", blocked_signals},
};

}  // namespace

std::span<const Scenario> signal_scenarios() { return kSignals; }

}  // namespace nvmemu::guest
