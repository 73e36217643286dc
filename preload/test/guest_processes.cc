// SPDX-License-Identifier: Apache-2.0
// How a program becomes another, or starts one.
#include <sched.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "guest.h"

namespace nvmemu::guest {
namespace {

int expect_three(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
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
  expect_three(child);
  CHECK(is_emulated());
  return 0;
}

int cloned_process(void* /*unused*/) {
  CHECK(is_emulated());
  burn();
  return 3;
}

// Copies of the process that fork() did not make.
int clones() {
  burn();
  static char stack[256 * 1024];
  expect_three(clone(cloned_process, stack + sizeof stack, SIGCHLD, nullptr));
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) _exit(cloned_process(nullptr));
  return expect_three(child);
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

int emulated() {
  CHECK(is_emulated());
  return 0;
}

constexpr Scenario kProcesses[] = {
    {"emulated", emulated},
    {"fork", forks},
    {"cloned-process", clones},
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
};

}  // namespace

std::span<const Scenario> process_scenarios() { return kProcesses; }

}  // namespace nvmemu::guest
