// SPDX-License-Identifier: Apache-2.0
// Programs that make few system calls of their own, for tests in which the emulator's fail. What they say,
// they say by an instruction of their own.
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include "base/raw_syscall.h"
#include "guest.h"

namespace nvmemu::guest {
namespace {

constexpr std::uint32_t kLinks = 1 << 20;
std::uint32_t links[kLinks];

void make_links() {
  for (std::uint32_t i = 0; i < kLinks; ++i) links[i] = (i * 1664525 + 1013904223) % kLinks;
}

// A chase through memory, without clocks.
void chase(int steps) {
  std::uint32_t at = 0;
  for (int step = 0; step < steps; ++step) at = links[at];
  asm volatile("" : : "r"(at));
}

[[noreturn]] void say_ok_and_exit() {
  raw_syscall(SYS_write, STDOUT_FILENO, "ok\n", 3);
  std::exit(0);
}

int computes() {
  make_links();
  chase(200'000);  // some 30 ms natively, 150 emulated: each call is refused in a run of its own
  say_ok_and_exit();
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void* chase_in_turn(void*) {
  for (int i = 0; i < 2; ++i) {
    pthread_mutex_lock(&mutex);
    chase(30'000);
    pthread_mutex_unlock(&mutex);
  }
  return nullptr;
}

// In two threads, and in a child with two.
int computes_together() {
  make_links();
  const pid_t child = fork();
  CHECK(child >= 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, nullptr, chase_in_turn, nullptr) == 0);
  chase_in_turn(nullptr);
  CHECK(pthread_join(thread, nullptr) == 0);
  if (child == 0) std::exit(7);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  say_ok_and_exit();
}

// What is said on stderr ends in a broken pipe.
int exec_without_reader() {
  int ends[2];
  CHECK(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
  CHECK(close(ends[0]) == 0 && close(ends[1]) == 0);
  execl(own_path, own_path, "computes", nullptr);
  return 1;
}

constexpr Scenario kComputing[] = {
    {"exec-without-reader", exec_without_reader},
    {"computes", computes},
    {"computes-together", computes_together},
};

}  // namespace

std::span<const Scenario> computing_scenarios() { return kComputing; }

}  // namespace nvmemu::guest
