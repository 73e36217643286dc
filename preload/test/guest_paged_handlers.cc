// SPDX-License-Identifier: Apache-2.0
// Handlers of the program's, which come amid system calls and faults of memory that is not in DRAM.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <thread>

#include "guest.h"
#include "kernel_sigaction.h"
#include "paged_area.h"

namespace nvmemu::guest {
namespace {

pid_t own_tid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

void let_pass(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void set(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(signal, &action, nullptr) == 0);
}

std::atomic<int> interrupted;
void make_calls(int) {
  char nothing[8] = {};
  CHECK(getppid() > 0);
  CHECK(getcwd(nothing, sizeof nothing) == nullptr || nothing[0] == '/');
  ++interrupted;
}
sigjmp_buf out;
void jump(int) { siglongjmp(out, 1); }

// What a call that waits was given stays in DRAM, whatever the handler calls that interrupts it: a datagram
// that finds no place is lost.
int calls_of_handlers() {
  Area area;
  area.fill();
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  set(SIGUSR1, make_calls, SA_RESTART);
  std::atomic<pid_t> receiver{0};
  std::thread thread([&] {
    receiver = own_tid();
    CHECK(recv(sockets[1], area.page(7), 8, 0) == 6);
  });
  while (receiver == 0 || !waits_in(receiver, SYS_recvfrom, sockets[1])) let_pass(1);
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_kill(thread.native_handle(), SIGUSR1) == 0);
    while (interrupted <= i) let_pass(1);
    let_pass(10);
  }
  area.push_out();
  CHECK(send(sockets[0], "first", 6, 0) == 6);
  let_pass(50);
  CHECK(send(sockets[0], "other", 6, 0) == 6);
  thread.join();
  CHECK(std::strcmp(area.page(7), "first") == 0);
  return 0;
}

// In the child it goes on as well.
int forks_of_handlers() {
  Area area;
  area.fill();
  int sockets[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) == 0);
  static std::atomic<pid_t> child;
  child = -1;
  set(
      SIGALRM, [](int) { child = fork(); }, SA_RESTART);
  std::thread sender([&, parent = pthread_self()] {
    CHECK(pthread_kill(parent, SIGALRM) == 0);
    while (child <= 0) let_pass(1);
    let_pass(50);
    area.push_out();
    for (int i = 0; i < 2; ++i) {  // each to one of them
      CHECK(send(sockets[0], "hello", 6, 0) == 6);
      let_pass(50);
    }
  });
  const ssize_t received = recv(sockets[1], area.page(7), 8, 0);
  const bool is_received = received == 6 && std::strcmp(area.page(7), "hello") == 0;
  if (child == 0) _exit(is_received ? 7 : 1);
  CHECK(is_received);
  sender.join();
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  return 0;
}

// Who jumps out of a handler, and out of the call with it, makes others as before; again and again.
int jumps_out_of_calls() {
  Area area;
  area.fill();
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  set(SIGALRM, jump, SA_NODEFER);
  for (static std::size_t i = 0; i < 40; ++i) {
    if (sigsetjmp(out, 1) == 0) {
      ualarm(2'000, 0);
      CHECK(read(pipes[0], area.page(i * 20), 8) < 0);
      CHECK(false);
    }
    CHECK(write(pipes[1], area.page(i), 8) == 8);
    CHECK(read(pipes[0], area.page(1000), 8) == 8);
    CHECK(std::memcmp(area.page(1000), area.page(i), 8) == 0);
    area.mark(1000, 0);
  }
  area.push_out();
  CHECK(area.holds_all());
  return 0;
}

// Faults that somebody sends come where the thread may be at work on pages.
int faults_that_are_sent() {
  Area area;
  area.fill();
  static Area* touched;
  touched = &area;
  static std::atomic<unsigned> came;
  const auto touch = [](int) {
    CHECK(touched->holds(came * 37 % 900) && getppid() > 0);
    ++came;
  };
  for (const int signal : {SIGFPE, SIGSEGV, SIGILL, SIGBUS}) set(signal, touch, 0);
  std::atomic<bool> is_done{false};
  std::atomic<std::size_t> steps{0};
  std::thread thread([&] {
    for (std::size_t i = 0; !is_done; steps = ++i) {
      CHECK(area.holds(i * 101 % 900 + 100));
      CHECK(write(-1, area.page(i * 13 % 1000), 8) < 0 && errno == EBADF);
    }
  });
  for (unsigned i = 0; i < 1'000; ++i) {
    const unsigned before = came;
    const int signals[] = {SIGFPE, SIGSEGV, SIGILL, SIGBUS};
    const int signal = signals[i % 4];
    CHECK(pthread_kill(thread.native_handle(), signal) == 0);
    // That of pages is one with a page's that comes at the same time.
    while (signal != SIGBUS && came == before) std::this_thread::yield();
    for (const std::size_t step = steps; steps < step + 2;) std::this_thread::yield();  // it has returned
  }
  is_done = true;
  thread.join();
  return 0;
}

// The emulator brings in what it looks at itself before the kernel is given it; handlers come at any time.
int handlers_amid_hooks() {
  Area area;
  area.fill();
  set(SIGALRM, make_calls, SA_RESTART);
  const itimerval often{{0, 200}, {0, 200}};
  CHECK(setitimer(ITIMER_REAL, &often, nullptr) == 0);
  for (std::size_t i = 0; i < 20'000 || interrupted < 20; ++i) {
    char* const told = area.page(i * 37 % kPages) + 16;
    CHECK(syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, told, sizeof(long)) == 0);
  }
  const itimerval never{};
  CHECK(setitimer(ITIMER_REAL, &never, nullptr) == 0);
  return 0;
}

// Threads that are there when another installs a filter: what they do with signals, and the threads and
// processes they make, is as it was.
int filters_beside_threads() {
  Area area;
  area.fill();
  area.push_out();
  std::atomic<int> step{0};
  std::thread other([&] {
    step = 1;
    while (step != 2) std::this_thread::yield();
    sigset_t all, before;
    sigfillset(&all);
    CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(long)) == 0);
    CHECK(getppid() > 0 && area.holds_all());
    std::thread([&] { CHECK(getppid() > 0 && area.holds(3)); }).join();
    CHECK(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof(long)) == 0);
    set(SIGUSR1, make_calls, 0);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0 && interrupted == 1);
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    pid_t child;
    int status;
    CHECK(posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = fork();
    if (child == 0) _exit(area.holds_all() ? 7 : 1);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  });
  while (step != 1) std::this_thread::yield();
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 1),  // which pages need
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{.len = std::size(code), .filter = code};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
  step = 2;
  other.join();
  CHECK(area.holds_all());
  return 0;
}

// A child that sets all back before it becomes another program borrows its maker's memory, not its handlers.
int children_with_defaults() {
  Area area;
  area.fill();
  area.push_out();
  set(SIGBUS, make_calls, 0);
  set(SIGSYS, make_calls, 0);
  posix_spawnattr_t attributes;
  sigset_t all;
  sigfillset(&all);
  CHECK(posix_spawnattr_init(&attributes) == 0 && posix_spawnattr_setsigdefault(&attributes, &all) == 0);
  CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF) == 0);
  char name[] = "true";
  char* const arguments[] = {name, nullptr};
  pid_t child;
  int status;
  CHECK(posix_spawn(&child, "/bin/true", nullptr, &attributes, arguments, environ) == 0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(posix_spawnattr_destroy(&attributes) == 0);
  CHECK(raise(SIGBUS) == 0 && interrupted == 1);
  CHECK(raise(SIGSYS) == 0 && interrupted == 2);
  CHECK(raise(SIGSYS) == 0 && interrupted == 3);
  CHECK(area.holds_all());
  return 0;
}

// What a call leaves in the registers is what it was given: some code counts on that.
int registers_of_calls() {
  Area area;
  area.fill();
  int pipes[2];
  CHECK(pipe(pipes) == 0 && write(pipes[1], "hello", 6) == 6);
  constexpr long kBytes = 6 << 20;  // more than is brought in at once
  long bytes = kBytes, result = SYS_read;
  asm volatile("syscall"
               : "+a"(result), "+d"(bytes)
               : "D"(pipes[0]), "S"(area.page(5))
               : "rcx", "r11", "memory");
  CHECK(result == 6 && bytes == kBytes);
  sigset_t none;
  sigemptyset(&none);
  timespec at_once{};
  register const sigset_t* mask asm("r10") = &none;
  register long mask_bytes asm("r8") = sizeof(long);
  result = SYS_ppoll;
  asm volatile("syscall"
               : "+a"(result), "+r"(mask)
               : "D"(0L), "S"(0L), "d"(&at_once), "r"(mask_bytes)
               : "rcx", "r11", "memory");
  CHECK(result == 0 && mask == &none);
  return 0;
}

std::atomic<std::uintptr_t> seen_at;
std::uintptr_t calls_at;  // an instruction, where the program makes a call
void look_where(int, siginfo_t*, void* context) {
  seen_at = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
}
__attribute__((noinline)) long read_here(int file, char* to) {
  long result = SYS_read;
  asm volatile(
      "leaq 1f(%%rip), %%rcx\n\t"
      "movq %%rcx, %1\n"
      "1: syscall"
      : "+a"(result), "=m"(calls_at)
      : "D"(file), "S"(to), "d"(8L)
      : "rcx", "r11", "memory");
  return result;
}

// The C library's from 2.41 on ends a thread that waits in a call where the signal that it sends finds it at
// that instruction: one that waits for what nobody has begun to give it.
int cancels_where_calls_are() {
  constexpr int kCancel = 32;
  Area area;
  area.fill();
  int pipes[2];
  CHECK(pipe(pipes) == 0);
  KernelSigaction action{};  // how it returns, the emulator sees to
  void (*const handler)(int, siginfo_t*, void*) = look_where;
  std::memcpy(&action.handler, &handler, sizeof handler);
  action.flags = SA_SIGINFO | SA_RESTART;
  CHECK(syscall(SYS_rt_sigaction, kCancel, &action, nullptr, sizeof(long)) == 0);
  std::atomic<pid_t> waiter{0};
  std::thread thread([&] {
    waiter = own_tid();
    CHECK(read_here(pipes[0], area.page(9)) == 6 && std::strcmp(area.page(9), "hello") == 0);
  });
  while (waiter == 0 || !waits_in(waiter, SYS_read, pipes[0])) let_pass(1);
  area.push_out();
  CHECK(syscall(SYS_tgkill, getpid(), waiter.load(), kCancel) == 0);
  while (seen_at == 0) let_pass(1);
  CHECK(seen_at == calls_at);
  area.push_out();
  CHECK(write(pipes[1], "hello", 6) == 6);
  thread.join();
  return 0;
}

constexpr Scenario kScenarios[] = {
    {"paged-handlers-calls", calls_of_handlers}, {"paged-handlers-forks", forks_of_handlers},
    {"paged-jumps", jumps_out_of_calls},         {"paged-sent-faults", faults_that_are_sent},
    {"paged-hooks", handlers_amid_hooks},        {"paged-filters", filters_beside_threads},
    {"paged-defaults", children_with_defaults},  {"paged-registers", registers_of_calls},
    {"paged-cancels", cancels_where_calls_are}};

}  // namespace

std::span<const Scenario> paged_handler_scenarios() { return kScenarios; }

}  // namespace nvmemu::guest
