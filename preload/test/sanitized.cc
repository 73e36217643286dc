// SPDX-License-Identifier: Apache-2.0
// What is built with a sanitizer, whose runtime has functions, signals and memory of its own.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <map>
#include <thread>
#include <vector>

namespace {

volatile std::sig_atomic_t seen = 0;
void note(int) { seen = 1; }

}  // namespace

// With an argument: to the end that somebody makes of it.
int main(int count, char**) {
  if (count > 1) alarm(1);
  while (count > 1) seen = seen + 0;
  std::map<int, int> numbers;
  for (int i = 0; i < 50'000; ++i) numbers[i * 7919 % 50'021] = i;
  std::vector<long> sums(3);
  std::vector<std::thread> threads;
  for (long& sum : sums) {
    threads.emplace_back([&numbers, &sum] {
      for (const auto& [key, number] : numbers) sum += number;
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::signal(SIGUSR1, note);
  std::signal(SIGSEGV, note);
  std::raise(SIGUSR1);
  std::printf("%ld %d\n", sums[0] + sums[2], static_cast<int>(seen));
}
