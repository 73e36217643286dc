// SPDX-License-Identifier: Apache-2.0
// What a program does with its threads, and what it sees of itself meanwhile.
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/clock.h"
#include "guest.h"

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

constexpr Scenario kThreads[] = {
    {"threads", threads},   {"descriptors", descriptors},
    {"errno", keeps_errno}, {"hot-errno", hot_errno},
    {"sleep", sleeps},      {"burn", burns},
    {"native", native},
};

}  // namespace

std::span<const Scenario> thread_scenarios() { return kThreads; }

}  // namespace nvmemu::guest
