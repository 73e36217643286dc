// SPDX-License-Identifier: Apache-2.0
#include "base/guarded_areas.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace nvmemu {
namespace {

constexpr std::size_t kBytes = 3 * kPageBytes;

int areas_of_process() {
  std::ifstream maps("/proc/self/maps");
  int areas = 0;
  for (std::string line; std::getline(maps, line);) ++areas;
  return areas;
}

// Linux 6.13 and later.
bool guards_take_no_area() {
  char* const page = static_cast<char*>(
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const bool can = madvise(page, kPageBytes, 102) == 0;
  munmap(page, kPageBytes);
  return can;
}

TEST(GuardedAreasTest, EachIsZerosOfItsOwnBehindAGuard) {
  GuardedAreas areas;
  for (int i = 0; i < 70; ++i) {
    char* const area = areas.take(kBytes);
    ASSERT_NE(area, nullptr);
    EXPECT_TRUE(std::all_of(area, area + kBytes, [](char c) { return c == 0; })) << i;
    std::fill(area, area + kBytes, 1);
    if (i % 23 == 0) {
      EXPECT_EXIT((*(area - 1) = 1, _exit(0)), testing::KilledBySignal(SIGSEGV), "") << i;
    }
  }
}

TEST(GuardedAreasTest, AHundredTakeFewAreasOfTheKernels) {
  GuardedAreas areas;
  const int before = areas_of_process();
  for (int i = 0; i < 100; ++i) ASSERT_NE(areas.take(kBytes), nullptr);
  EXPECT_LE(areas_of_process() - before, guards_take_no_area() ? 8 : 208);
}

TEST(GuardedAreasTest, ThreadsHaveEachTheirOwn) {
  constexpr int kThreads = 4, kEach = 200;
  GuardedAreas areas;
  std::vector<std::vector<char*>> taken(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&areas, &mine] {
      for (int i = 0; i < kEach; ++i) mine.push_back(areas.take(kBytes));
    });
  for (std::thread& thread : threads) thread.join();
  std::set<char*> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), std::size_t{kThreads} * kEach);
  EXPECT_EQ(all.count(nullptr), 0U);
}

TEST(GuardedAreasTest, AChildOfAForkGoesOnWithItsOwn) {
  GuardedAreas areas;
  ASSERT_NE(areas.take(kBytes), nullptr);
  EXPECT_EXIT(_exit(areas.take(kBytes) != nullptr ? 0 : 1), testing::ExitedWithCode(0), "");
  EXPECT_NE(areas.take(kBytes), nullptr);
}

TEST(GuardedAreasTest, WithoutMemoryThereIsNone) {
  GuardedAreas areas;
  EXPECT_EQ(areas.take(std::size_t{1} << 47), nullptr);
  EXPECT_NE(areas.take(kBytes), nullptr);
}

}  // namespace
}  // namespace nvmemu
