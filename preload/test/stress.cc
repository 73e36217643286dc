// SPDX-License-Identifier: Apache-2.0
// stress SECONDS: 64 threads that start, stop, lock and fork, all at once, and check that what a lock guards
// is whole and what a child says is right. Ends by SIGALRM where it hangs.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace {

constexpr unsigned kThreads = 64;
constexpr std::size_t kWords = std::size_t{1} << 20;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "stress: %s\n", what);
  std::_Exit(90);
}

struct Guarded {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t first = 0, second = 0;  // always equal outside the lock
};

struct Shared {
  Guarded guarded;
  std::shared_mutex readers;
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(kWords);
  std::atomic<std::uint64_t> actions{0};
};

// Dependent reads all over the words.
std::uint32_t wander(const Shared& shared, std::uint32_t at, int steps) {
  for (int i = 0; i < steps; ++i) at = (shared.words[at % kWords] + at * 2654435761u + 1) % kWords;
  return at;
}

void lock(Shared& shared, std::uint32_t at) {
  const std::lock_guard hold(shared.guarded.mutex);
  if (shared.guarded.first != shared.guarded.second) fail("two threads were inside a lock");
  ++shared.guarded.first;
  wander(shared, at, 200);
  ++shared.guarded.second;
  shared.guarded.changed.notify_one();
}

void wait_a_little(Shared& shared) {
  std::unique_lock hold(shared.guarded.mutex);
  const std::uint64_t seen = shared.guarded.first;
  shared.guarded.changed.wait_for(hold, std::chrono::milliseconds(2),
                                  [&] { return shared.guarded.first != seen; });
}

void share(Shared& shared, std::uint32_t at) {
  if (at % 8 == 0) {
    const std::unique_lock hold(shared.readers);
    shared.words[at % kWords] = at;
  } else {
    const std::shared_lock hold(shared.readers);
    wander(shared, at, 200);
  }
}

void start_thread(const Shared& shared, std::uint32_t at) {
  std::uint32_t result = 0;
  std::thread thread([&] { result = wander(shared, at, 2000) + 1; });
  thread.join();
  if (result == 0) fail("a thread that was joined has not run");
}

void* leave(void*) { pthread_exit(reinterpret_cast<void*>(7)); }

void start_thread_that_exits() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, leave, nullptr) != 0) return;  // as many as there may be
  void* result = nullptr;
  if (pthread_join(thread, &result) != 0 || result != reinterpret_cast<void*>(7))
    fail("pthread_exit lost its value");
}

void start_process(const Shared& shared, std::uint32_t at) {
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    wander(shared, at, 2000);
    _exit(static_cast<int>(at % 100));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) != static_cast<int>(at % 100))
    fail("a child ended otherwise than it said");
}

void work(Shared& shared, unsigned seed, std::uint64_t end_ns) {
  std::minstd_rand random(seed + 1);
  while (nvmemu::monotonic_raw_ns() < end_ns) {
    const auto at = static_cast<std::uint32_t>(random());
    switch (random() % 32) {
      case 0:
        start_process(shared, at);
        break;
      case 1:
      case 2:
        start_thread(shared, at);
        break;
      case 3:
        start_thread_that_exits();
        break;
      case 4:
      case 5:
        wait_a_little(shared);
        break;
      default:
        at % 2 == 0 ? lock(shared, at) : share(shared, at);
        break;
    }
    ++shared.actions;
  }
}

}  // namespace

int main(int count, char** arguments) {
  const long seconds = count == 2 ? std::strtol(arguments[1], nullptr, 10) : 0;
  if (seconds < 1 || seconds > 3600) {
    std::fputs("Usage: stress SECONDS (1 to 3600)\n", stderr);
    return 2;
  }
  alarm(static_cast<unsigned>(seconds) * 3 + 60);
  Shared shared;
  const std::uint64_t end_ns = nvmemu::monotonic_raw_ns() + static_cast<std::uint64_t>(seconds) * 1000000000;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(work, std::ref(shared), i, end_ns);
  for (std::thread& thread : threads) thread.join();
  if (shared.guarded.first != shared.guarded.second) fail("a lock was left half way");
  std::printf("ok\n");
  std::fprintf(stderr, "%llu actions\n", static_cast<unsigned long long>(shared.actions.load()));
  return 0;
}
