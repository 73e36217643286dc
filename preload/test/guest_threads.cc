// SPDX-License-Identifier: Apache-2.0
// What a program does with its threads, and what it sees of itself meanwhile.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "guest.h"
#include "nvmemu/nvmemu.h"

namespace nvmemu::guest {
namespace {

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

// The hottest load is one of the C library's that the emulator's own handler runs as well.
int hot_errno() {
  int* (*volatile where)() = __errno_location;  // volatile: called each time, though it is a const function
  const int* const expected = where();
  const std::uint64_t end = nvmemu::thread_cpu_ns() + 400000000;
  while (nvmemu::thread_cpu_ns() < end) {
    for (int i = 0; i < 100000; ++i) CHECK(where() == expected);
  }
  return 0;
}

int c11_thread(void* /*unused*/) {
  if (is_emulated()) ++emulated_threads;
  burn(30);
  return 42;
}

int c11_threads() {
  thrd_t threads[3];
  for (thrd_t& thread : threads) CHECK(thrd_create(&thread, c11_thread, nullptr) == thrd_success);
  for (const thrd_t thread : threads) {
    int result = 0;
    CHECK(thrd_join(thread, &result) == thrd_success && result == 42);
  }
  CHECK(emulated_threads == 3);
  return 0;
}

constexpr int kAsThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
constexpr std::size_t kStackBytes = std::size_t{256} << 10;

char* top_of_stack() {
  void* stack =
      mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  CHECK(stack != MAP_FAILED);
  return static_cast<char*>(stack) + kStackBytes;
}

// Without the C library, whose thread-local storage is not this thread's.
void burn_alone() {
  timespec now{};
  do {
    for (int i = 0; i < 100000; ++i) asm volatile("" ::: "memory");
    nvmemu::raw_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 300000000);
}

int raw_thread(void* /*unused*/) {
  burn_alone();
  return 0;
}

// Until the kernel knows it no longer.
void wait_for_raw_thread(long tid) {
  const timespec a_while{.tv_sec = 0, .tv_nsec = 10000000};
  while (nvmemu::raw_syscall(SYS_tgkill, getpid(), tid, 0) == 0) nanosleep(&a_while, nullptr);
}

// Their thread pointer is their creator's.
int cloned_threads() {
  std::array<int, 2> tids;
  for (int& tid : tids) CHECK((tid = clone(raw_thread, top_of_stack(), kAsThread, nullptr)) > 0);
  for (const int tid : tids) wait_for_raw_thread(tid);
  return 0;
}

// clone(2) by its system call, of a thread that runs the routine at the top of its stack; its number.
long clone_unseen(void** stack) {
#if defined(__x86_64__)
  long tid = SYS_clone;
  register long r10 asm("r10") = 0;
  register long r8 asm("r8") = 0;
  asm volatile(
      "syscall\n"
      "test %%rax, %%rax\n"
      "jnz 1f\n"
      "xor %%edi, %%edi\n"
      "pop %%rax\n"
      "call *%%rax\n"
      "mov $60, %%eax\n"  // exit
      "xor %%edi, %%edi\n"
      "syscall\n"
      "1:\n"
      : "+a"(tid)
      : "D"(static_cast<long>(kAsThread)), "S"(stack), "d"(0L), "r"(r10), "r"(r8)
      : "rcx", "r11", "memory");
  return tid;
#elif defined(__aarch64__)
  register long x8 asm("x8") = SYS_clone;
  register long x0 asm("x0") = kAsThread;
  register void** x1 asm("x1") = stack;
  register long x2 asm("x2") = 0;
  register long x3 asm("x3") = 0;
  register long x4 asm("x4") = 0;
  asm volatile(
      "svc #0\n"
      "cbnz x0, 1f\n"
      "ldr x9, [sp], #16\n"
      "blr x9\n"
      "mov x8, #93\n"  // exit
      "mov x0, #0\n"
      "svc #0\n"
      "1:\n"
      : "+r"(x0)
      : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
      : "x9", "x30", "memory");
  return x0;
#endif
}

// Not even the C library knows of this one.
int unseen_thread() {
#if defined(__x86_64__)
  constexpr std::ptrdiff_t kWords = 3;  // aligned as a call expects
#else
  constexpr std::ptrdiff_t kWords = 2;
#endif
  auto* stack = reinterpret_cast<void**>(top_of_stack()) - kWords;
  *stack = reinterpret_cast<void*>(&raw_thread);
  const long tid = clone_unseen(stack);
  CHECK(tid > 0);
  wait_for_raw_thread(tid);
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

// Nothing that a program asks for by itself: ticks go on, ends of epochs do not.
int held() {
  CHECK(nvmemu_hold != nullptr && nvmemu_release != nullptr);
  nvmemu_hold();
  burn();
  return 0;
}

int held_and_released() {
  errno = 4711;
  for (int i = 0; i < 4; ++i) {
    nvmemu_hold();
    burn(60);
    nvmemu_release();
    CHECK(errno == 4711);
  }
  return 0;
}

int native() {
  CHECK(!is_emulated());
  return 0;
}

constexpr Scenario kThreads[] = {
    {"threads", threads},
    {"descriptors", descriptors},
    {"errno", keeps_errno},
    {"hot-errno", hot_errno},
    {"sleep", sleeps},
    {"burn", burns},
    {"held", held},
    {"held-and-released", held_and_released},
    {"native", native},
    {"c11-threads", c11_threads},
    {"cloned-threads", cloned_threads},
    {"unseen-thread", unseen_thread},
};

}  // namespace

std::span<const Scenario> thread_scenarios() { return kThreads; }

}  // namespace nvmemu::guest
