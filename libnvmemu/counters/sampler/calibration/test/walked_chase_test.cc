// SPDX-License-Identifier: Apache-2.0
// Wide bounds only: what is checked is that each figure is of what it says, not how fast this machine is.
#include "counters/sampler/calibration/walked_chase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace nvmemu {
namespace {

struct alignas(64) Line {
  const Line* next;
};

// More than a second-level cache holds, little enough for a test.
std::vector<Line> cycle() {
  constexpr std::size_t kLines = std::size_t{1} << 17;
  std::vector<Line> lines(kLines);
  std::vector<std::size_t> order(kLines);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 0; i < kLines; ++i) lines[order[i]].next = &lines[order[(i + 1) % kLines]];
  return lines;
}

// So low that every load is a miss.
constexpr double kAllIsMemory = -1000;
// So high that only what was interrupted is.
constexpr double kNothingIsMemory = 900;

TEST(WalkedChase, TellsWhatLoadsAndStepsTake) {
  const Clock clock = Clock::calibrate();
  if (!clock.uses_tsc()) GTEST_SKIP() << "needs an invariant TSC";
  const std::vector<Line> lines = cycle();
  const WalkedChase walked = measure_walked_chase(clock, lines.data(), kAllIsMemory);
  EXPECT_GT(walked.miss_ns, 0);
  EXPECT_LT(walked.miss_ns, 5000);
  EXPECT_GT(walked.native_miss_ns, 0);
  EXPECT_LT(walked.native_miss_ns, 5000);
  EXPECT_GT(walked.loaded_ratio, 0.1);
  EXPECT_LT(walked.loaded_ratio, 10);
  EXPECT_GT(walked.step_ns, 1);
  EXPECT_LT(walked.step_ns, 2000);
  EXPECT_GT(walked.begin_ns, 0);
  EXPECT_LT(walked.begin_ns, 1e6);
}

TEST(WalkedChase, KnowsNoMissesWhereAllIsCached) {
  const Clock clock = Clock::calibrate();
  if (!clock.uses_tsc()) GTEST_SKIP() << "needs an invariant TSC";
  const Line alone{&alone};
  const WalkedChase walked = measure_walked_chase(clock, &alone, kNothingIsMemory);
  EXPECT_EQ(walked.miss_ns, 0);
  EXPECT_EQ(walked.native_miss_ns, 0);
  EXPECT_EQ(walked.loaded_ratio, 0);
  EXPECT_GT(walked.step_ns, 0);
}

TEST(WalkedChase, IsNotKnownWhereTheClockIsNotTheTsc) {
  const Line alone{&alone};
  const WalkedChase walked = measure_walked_chase(Clock::monotonic(), &alone, kAllIsMemory);
  EXPECT_EQ(walked.miss_ns, 0);
  EXPECT_EQ(walked.native_miss_ns, 0);
  EXPECT_EQ(walked.step_ns, 0);
  EXPECT_EQ(walked.begin_ns, 0);
}

}  // namespace
}  // namespace nvmemu
