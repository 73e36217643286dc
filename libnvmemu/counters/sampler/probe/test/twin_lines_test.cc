// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/twin_lines.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "counters/sampler/code/guarded_read.h"

namespace nvmemu {
namespace {

const void* other_line_of_page(const char* line) {
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(line) ^ 2048);
}

std::vector<std::uint64_t> readings(TwinLines& twins) {
  std::vector<std::uint64_t> ticks;
  for (const char* one = twins.next(); one != nullptr; one = twins.next())
    ticks.push_back(nvmemu_probe_load(one, other_line_of_page(one)));
  return ticks;
}

double median_ns(std::vector<std::uint64_t> ticks) {
  std::nth_element(ticks.begin(), ticks.begin() + static_cast<std::ptrdiff_t>(ticks.size() / 2), ticks.end());
  return Clock::calibrate().to_ns(ticks[ticks.size() / 2]);
}

TEST(TwinLines, AreNoneBeforeTheyAreChosen) {
  TwinLines twins;
  EXPECT_EQ(twins.next(), nullptr);
}

TEST(TwinLines, AreEachReadOnceOutOfACache) {
  TwinLines twins;
  for (int burst = 0; burst < 3; ++burst) {
    twins.touch();
    const auto ticks = readings(twins);
    ASSERT_EQ(ticks.size(), TwinLines::kLines);
    EXPECT_LT(median_ns(ticks), 90);  // with its fences; memory takes over 100 on anything
  }
}

TEST(TwinLines, MayBeMadeByManyThreadsAtOnceAndReadInAForksChild) {
  std::vector<std::thread> threads;
  std::vector<std::size_t> counts(8);
  for (std::size_t& count : counts) {
    threads.emplace_back([&count] {
      TwinLines twins;
      twins.touch();
      count = readings(twins).size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : counts) EXPECT_EQ(count, TwinLines::kLines);

  TwinLines twins;
  twins.touch();
  const pid_t child = fork();
  if (child == 0) _exit(readings(twins).size() == TwinLines::kLines ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nvmemu
