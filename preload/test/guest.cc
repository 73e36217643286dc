// SPDX-License-Identifier: Apache-2.0
// The program that is emulated in tests: each scenario does what programs do to an emulator, checks that it
// looks as it would without one, and says "ok" on stdout.
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "nvmemu/nvmemu.h"

namespace {

const char* own_path;

[[noreturn]] void fail(const char* what, int line) {
  std::fprintf(stderr, "guest: line %d: %s\n", line, what);
  std::_Exit(90);
}
#define CHECK(condition) \
  if (!(condition)) fail(#condition, __LINE__)

bool is_emulated() { return nvmemu_active != nullptr && nvmemu_active() == 1; }

// Some ten epochs of 10 ms.
void burn(double ms = 120) {
  const std::uint64_t end = nvmemu::thread_cpu_ns() + static_cast<std::uint64_t>(ms * 1e6);
  while (nvmemu::thread_cpu_ns() < end) {
    for (int i = 0; i < 20000; ++i) asm volatile("");
  }
}

std::atomic<int> emulated_threads;

void* thread_routine(void* how) {
  if (is_emulated()) ++emulated_threads;
  burn(30);
  if (how != nullptr) pthread_exit(nullptr);
  return nullptr;
}

int threads() {
  pthread_t threads[6];
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(pthread_create(&threads[i], nullptr, thread_routine, i % 2 == 0 ? nullptr : &threads) == 0);
  }
  for (const pthread_t thread : threads) CHECK(pthread_join(thread, nullptr) == 0);
  CHECK(emulated_threads == 6);
  return 0;
}

int forks() {
  const pid_t child = fork();
  if (child == 0) {
    CHECK(is_emulated());
    burn();
    _exit(3);
  }
  burn();
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
  CHECK(is_emulated());
  return 0;
}

int execs() {
  burn(30);
  execl("/bin/sh", "sh", "-c", "exec \"$0\" burn", own_path, nullptr);
  return 91;
}

// The environment is replaced, and the program is emulated all the same.
char burn_argument[] = "burn";
char* burn_arguments[] = {burn_argument, burn_argument, nullptr};
char own_variable[] = "OWN=1";
char own_preload[] = "LD_PRELOAD=/nonexistent/libown.so";
char* own_environment[] = {own_variable, nullptr};
char* preloading_environment[] = {own_variable, own_preload, nullptr};

int execs_without_environment() {
  execve(own_path, burn_arguments, own_environment);
  return 91;
}
int execs_with_own_preload() {
  execle(own_path, burn_argument, burn_argument, nullptr, preloading_environment);
  return 91;
}
int execs_after_clearing() {
  clearenv();
  execl(own_path, burn_argument, burn_argument, nullptr);
  return 91;
}
int execs_what_is_not_there() {
  CHECK(execl("/nonexistent/program", "program", nullptr) == -1 && errno == ENOENT);
  return burn(), 0;
}

int expect_success(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}
int spawns_without_environment() {
  pid_t child = 0;
  CHECK(posix_spawn(&child, own_path, nullptr, nullptr, burn_arguments, own_environment) == 0);
  return expect_success(child);
}
int vforks_without_environment() {
  const pid_t child = vfork();
  if (child == 0) {
    execve(own_path, burn_arguments, own_environment);
    _exit(91);
  }
  return expect_success(child);
}

// A program that nothing can be preloaded into.
int runs_static() {
  const pid_t child = fork();
  if (child == 0) {
    execl(NVMEMU_TEST_STATIC_PROGRAM, "static-program", nullptr);
    _exit(91);
  }
  return expect_success(child);
}
int spawns_static() {
  char name[] = "static-program";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  CHECK(posix_spawn(&child, NVMEMU_TEST_STATIC_PROGRAM, nullptr, nullptr, arguments, environ) == 0);
  return expect_success(child);
}

// Its parent does not wait for it.
int outlived() {
  int running[2];
  CHECK(pipe(running) == 0);
  if (fork() == 0) {
    if (fork() != 0) _exit(0);
    CHECK(write(running[1], "", 1) == 1);
    burn(300);
    _exit(0);
  }
  char byte = 0;
  CHECK(read(running[0], &byte, 1) == 1);
  return 0;
}

int spawns() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t child = 0;
  CHECK(posix_spawnp(&child, "true", nullptr, nullptr, arguments, environ) == 0);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  const pid_t borrowed = vfork();
  if (borrowed == 0) _exit(4);
  CHECK(waitpid(borrowed, &status, 0) == borrowed && WEXITSTATUS(status) == 4);
  CHECK(is_emulated());
  return 0;
}

std::atomic<int> signals_seen;
void count_signal(int) { ++signals_seen; }

// The program's own handlers for the signals that the emulator uses, while it uses them.
int own_signals() {
  for (const int signal_number : {SIGURG, SIGTRAP}) {
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
  raise(SIGURG);  // ignored by default
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

int blocked_signals() {
  sigset_t all;
  sigfillset(&all);
  CHECK(pthread_sigmask(SIG_BLOCK, &all, nullptr) == 0);
  CHECK(sigprocmask(SIG_SETMASK, &all, nullptr) == 0);
  burn();
  return 0;
}

// Prints which descriptors it is given: the test compares. Then closes all, as daemons do.
int descriptors() {
  for (int i = 0; i < 3; ++i) {
    std::printf("%d ", open("/dev/null", O_RDONLY));
    burn(40);
  }
  for (int fd = 3; fd < 256; ++fd) close(fd);
  burn(40);
  return 0;
}

int keeps_errno() {
  errno = 4711;
  const std::uint64_t end = nvmemu::thread_cpu_ns() + 100000000;
  while (nvmemu::thread_cpu_ns() < end) CHECK(errno == 4711);
  return 0;
}

// The hottest load is one of the C library's that the emulator's own trap handler runs as well: a probe of it
// traps inside the handler.
int hot_errno() {
  int* (*volatile where)() = __errno_location;  // volatile: called each time, though it is a const function
  const int* const expected = where();
  const std::uint64_t end = nvmemu::thread_cpu_ns() + 400000000;
  while (nvmemu::thread_cpu_ns() < end) {
    for (int i = 0; i < 100000; ++i) CHECK(where() == expected);
  }
  return 0;
}

// A thread that sleeps is never woken, and one that computes beside it is emulated all the same.
int sleeps() {
  pthread_t busy;
  CHECK(pthread_create(&busy, nullptr, thread_routine, nullptr) == 0);
  const timespec wait{.tv_sec = 0, .tv_nsec = 200000000};
  CHECK(nanosleep(&wait, nullptr) == 0);
  pthread_join(busy, nullptr);
  return 0;
}

int burns() {
  CHECK(is_emulated());
  burn();
  return 0;
}

int native() {
  CHECK(!is_emulated());
  return 0;
}

int ends_by_exit() {
  burn();
  std::exit(11);
}
int ends_by_underscore_exit() {
  burn();
  _exit(12);
}
int ends_by_quick_exit() {
  burn();
  std::quick_exit(13);
}
int ends_by_fault() {
  burn();
  *static_cast<volatile int*>(nullptr) = 1;
  return 95;
}
int ends_by_sigterm() {
  struct sigaction action {};
  CHECK(sigaction(SIGTERM, nullptr, &action) == 0 && action.sa_handler == SIG_DFL && action.sa_flags == 0);
  CHECK(signal(SIGTERM, count_signal) == SIG_DFL);
  raise(SIGTERM);
  CHECK(signals_seen == 1);
  CHECK(signal(SIGTERM, SIG_IGN) == count_signal);
  raise(SIGTERM);
  CHECK(signal(SIGTERM, SIG_DFL) == SIG_IGN);
  burn();
  kill(getpid(), SIGTERM);
  pause();
  return 96;
}
int ends_by_abort() {
  burn();
  std::abort();
}
int ends_by_alarm() {
  CHECK(signal(SIGALRM, SIG_DFL) == SIG_DFL);
  burn();
  ualarm(1000, 0);
  pause();
  return 97;
}
int ends_by_division() {
  burn();
  volatile int zero = 0;
  return static_cast<int>(signals_seen + 1000) / zero;
}
// What was ignored when the program began stays so.
int ignored_hangup() {
  raise(SIGHUP);
  return 0;
}
int ends_by_signal() {
  burn();
  raise(SIGKILL);
  return 93;
}

struct Scenario {
  const char* name;
  int (*run)();
};
constexpr Scenario kScenarios[] = {
    {"threads", threads},
    {"fork", forks},
    {"exec", execs},
    {"spawn", spawns},
    {"exec-environment", execs_without_environment},
    {"exec-own-preload", execs_with_own_preload},
    {"exec-clearenv", execs_after_clearing},
    {"exec-nothing", execs_what_is_not_there},
    {"spawn-environment", spawns_without_environment},
    {"vfork-environment", vforks_without_environment},
    {"exec-static", runs_static},
    {"spawn-static", spawns_static},
    {"outlived", outlived},
    {"own-signals", own_signals},
    {"default-trap", default_trap},
    {"own-faults", own_faults},
    {"blocked-signals", blocked_signals},
    {"descriptors", descriptors},
    {"errno", keeps_errno},
    {"hot-errno", hot_errno},
    {"sleep", sleeps},
    {"burn", burns},
    {"native", native},
    {"exit", ends_by_exit},
    {"_exit", ends_by_underscore_exit},
    {"quick_exit", ends_by_quick_exit},
    {"fault", ends_by_fault},
    {"terminated", ends_by_sigterm},
    {"abort", ends_by_abort},
    {"alarm", ends_by_alarm},
    {"division", ends_by_division},
    {"ignored-hangup", ignored_hangup},
    {"killed", ends_by_signal},
};

}  // namespace

int main(int count, char** arguments) {
  own_path = arguments[0];
  for (const Scenario& scenario : kScenarios) {
    if (count < 2 || std::strcmp(arguments[1], scenario.name) != 0) continue;
    const int status = scenario.run();
    if (status == 0) std::puts("ok");
    return status;
  }
  std::fputs("guest: unknown scenario\n", stderr);
  return 94;
}
