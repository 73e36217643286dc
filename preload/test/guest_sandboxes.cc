// SPDX-License-Identifier: Apache-2.0
// Programs that lock themselves in: a system call too many ends them.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "guest.h"

namespace nvmemu::guest {
namespace {

// `named` for the calls that are named, `others` for all else.
std::vector<sock_filter> filter_of(std::initializer_list<long> calls, std::uint32_t named,
                                   std::uint32_t others) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const long call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, named));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, others));
  return filter;
}

sock_fprog program_of(std::vector<sock_filter>& filter) {
  return {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
}

void install(std::vector<sock_filter> filter) {
  const sock_fprog program = program_of(filter);
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

void compute() {
  for (int i = 0; i < 300'000'000; ++i) asm volatile("");
}

[[noreturn]] void say_ok_and_exit(long by) {
  static_cast<void>(!write(STDOUT_FILENO, "ok\n", 3));
  for (;;) syscall(by, 0);
}

int strict_mode() {
  walk_list(30);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0);
  compute();
  say_ok_and_exit(SYS_exit);
}

// Nothing but what it needs itself.
int kill_all_else() {
  walk_list(30);
  install(
      filter_of({SYS_write, SYS_exit_group, SYS_rt_sigreturn}, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS));
  compute();
  say_ok_and_exit(SYS_exit_group);
}

std::atomic<int> begun;

void begin_threads(int count, void* (*run)(void*)) {
  pthread_t thread;
  for (int i = 0; i < count; ++i) CHECK(pthread_create(&thread, nullptr, run, nullptr) == 0);
  while (begun < count) continue;
}

// For all threads.
void kill_all_else_of_all() {
  std::vector<sock_filter> filter =
      filter_of({SYS_write, SYS_exit_group, SYS_rt_sigreturn}, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS);
  const sock_fprog program = program_of(filter);
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0);
}

int kill_all_else_everywhere() {
  walk_list(30);
  begin_threads(1, [](void*) -> void* {
    for (++begun;;) compute();
  });
  kill_all_else_of_all();
  compute();
  say_ok_and_exit(SYS_exit_group);
}

// Each load waits for the one before.
void load(int steps) {
  static void* link = &link;
  void** at = &link;
  for (int i = 0; i < steps; ++i) {
    at = static_cast<void**>(*at);
    asm volatile("" : "+r"(at));
  }
}

// The others' time is delays, most of it, where all loads count as from memory.
int kill_all_else_amid_delays() {
  begin_threads(8, [](void*) -> void* {
    load(20'000'000);
    for (++begun;;) load(20'000'000);
  });
  kill_all_else_of_all();
  say_ok_and_exit(SYS_exit_group);
}

// Filters of nothing but what ends the process, in all ways that the kernel does not take one.
void ask_for_refused_filters() {
  std::vector<sock_filter> none = filter_of({}, 0, SECCOMP_RET_KILL_PROCESS);
  const sock_fprog whole = program_of(none);
  const sock_fprog empty{.len = 0, .filter = none.data()};
  std::vector<sock_filter> many(BPF_MAXINSNS + 1, none.back());
  const sock_fprog too_long = program_of(many);
  const sock_fprog nowhere{.len = 1, .filter = reinterpret_cast<sock_filter*>(16)};
  const auto is_refused = [](long result, int error) { return result == -1 && errno == error; };
  const auto by_prctl = [](const void* filter) { return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter); };
  if (geteuid() != 0) CHECK(is_refused(by_prctl(&whole), EACCES));
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(is_refused(by_prctl(&empty), EINVAL) && is_refused(by_prctl(&too_long), EINVAL));
  CHECK(is_refused(by_prctl(&nowhere), EFAULT) && is_refused(by_prctl(nullptr), EFAULT));
  CHECK(is_refused(by_prctl(reinterpret_cast<void*>(-8L)), EFAULT));
  constexpr unsigned long kNoFlag = 1UL << 30;
  CHECK(is_refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kNoFlag, &whole), EINVAL));
  CHECK(is_refused(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, nullptr), EINVAL));
}

int refused_filters() {
  walk_list(50);
  ask_for_refused_filters();
  walk_list(300);
  install(filter_of({}, 0, SECCOMP_RET_ALLOW));
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == -1 && errno == EINVAL);  // not from under a filter
  walk_list(300);
  return 0;
}

// A user's who is not root: see capabilities(7).
int refused_filters_of_nobody() {
  CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
  return refused_filters();
}

void* walk_a_while(void*) {
  walk_list(100);
  return nullptr;
}

// What hardly a program does, and what the emulator begins threads with.
void forbid_tickers(std::uint32_t how) {
  install(
      filter_of({SYS_perf_event_open, SYS_timer_create, SYS_fcntl, SYS_getdents64}, how, SECCOMP_RET_ALLOW));
}

int no_tickers() {
  walk_list(100);
  forbid_tickers(SECCOMP_RET_KILL_PROCESS);
  walk_list(200);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, walk_a_while, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  return 0;
}

int no_tickers_trapped() {
  walk_list(100);
  forbid_tickers(SECCOMP_RET_TRAP);
  walk_list(200);
  return 0;
}

// Born with such a filter.
int exec_without_tickers() {
  forbid_tickers(SECCOMP_RET_KILL_PROCESS);
  execl(own_path, own_path, "coroutine-stack", nullptr);
  return 1;
}

// What walks lie in, and what threads wait with, of threads that begin later.
void forbid_memory_files() {
  install(filter_of({SYS_memfd_create, SYS_sched_yield}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
}

int no_memory_files() {
  walk_list(100);
  forbid_memory_files();
  walk_list(100);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, walk_a_while, nullptr) == 0);
  CHECK(pthread_join(thread, nullptr) == 0);
  return 0;
}

int exec_without_memory_files() {
  forbid_memory_files();
  execl(own_path, own_path, "coroutine-stack", nullptr);
  return 1;
}

// What threads' pointers are asked for by, where no instruction tells them.
int no_thread_pointers() {
  walk_list(100);
  install(filter_of({SYS_arch_prctl}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  walk_list(100);
  return 0;
}

// What each tick of the emulator's needs, and no program by itself.
int exec_without_alternate_stacks() {
  install(filter_of({SYS_sigaltstack}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  execl(own_path, own_path, "native", nullptr);
  return 1;
}

// What something else does for.
int exec_without_perf_events() {
  install(filter_of({SYS_perf_event_open}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  execl(own_path, own_path, "burn", nullptr);
  return 1;
}

// What writing a report needs.
int no_renames() {
  walk_list(100);
  install(filter_of({SYS_rename, SYS_renameat}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  walk_list(100);
  return 0;
}

int exec_without_renames() {
  install(filter_of({SYS_rename, SYS_renameat}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  execl(own_path, own_path, "errno", nullptr);
  return 1;
}

// What writing anything needs, for nvmemu.
int exec_without_pending_signals() {
  install(filter_of({SYS_rt_sigpending}, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ALLOW));
  execl(own_path, own_path, "errno", nullptr);
  return 1;
}

constexpr Scenario kSandboxes[] = {
    {"refused-filters", refused_filters},
    {"refused-filters-of-nobody", refused_filters_of_nobody},
    {"strict-mode", strict_mode},
    {"kill-all-else", kill_all_else},
    {"kill-all-else-everywhere", kill_all_else_everywhere},
    {"kill-all-else-amid-delays", kill_all_else_amid_delays},
    {"no-tickers", no_tickers},
    {"no-tickers-trapped", no_tickers_trapped},
    {"no-memory-files", no_memory_files},
    {"exec-without-memory-files", exec_without_memory_files},
    {"no-thread-pointers", no_thread_pointers},
    {"no-renames", no_renames},
    {"exec-without-renames", exec_without_renames},
    {"exec-without-pending-signals", exec_without_pending_signals},
    {"exec-without-tickers", exec_without_tickers},
    {"exec-without-alternate-stacks", exec_without_alternate_stacks},
    {"exec-without-perf-events", exec_without_perf_events},
};

}  // namespace

std::span<const Scenario> sandbox_scenarios() { return kSandboxes; }

}  // namespace nvmemu::guest
