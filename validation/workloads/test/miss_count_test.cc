// SPDX-License-Identifier: Apache-2.0
#include "workloads/miss_count.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu::workloads {
namespace {

constexpr double kMissTicks = 400;

// Sixteen hits take 500 ticks.
MissCount count(std::vector<std::uint64_t> others) {
  std::vector<std::uint64_t> readings(100, 500);
  readings.insert(readings.end(), others.begin(), others.end());
  return misses_among(readings, kMissTicks);
}

TEST(MissesAmong, AreNoneWhereAllReadingsAreAlike) {
  EXPECT_EQ(count({}).misses, 0U);
  EXPECT_EQ(count({}).loads, 1600U);
}

TEST(MissesAmong, AreAsManyAsAReadingIsLonger) {
  EXPECT_EQ(count({900}).misses, 1U);
  EXPECT_EQ(count({900, 1310, 1700}).misses, 6U);
}

TEST(MissesAmong, AreRounded) {
  EXPECT_EQ(count({690}).misses, 0U);
  EXPECT_EQ(count({710}).misses, 1U);
}

TEST(MissesAmong, AreNotNegative) { EXPECT_EQ(count({20, 100, 900}).misses, 1U); }

TEST(MissesAmong, LeaveOutWhatWasInterrupted) {
  EXPECT_EQ(count({500 + 16 * 400}).misses, 16U);
  const MissCount interrupted = count({900, 500 + 17 * 400, 1'000'000});
  EXPECT_EQ(interrupted.misses, 1U);
  EXPECT_EQ(interrupted.loads, 1616U);
}

TEST(CountMisses, StepsTheChaseOn) {
  const LineCycle cycle = *LineCycle::create(4800 * kLineBytes, PageSize::k4KiB, 1, 1);
  ChaseState counted{cycle.starts()};
  ChaseState chased{cycle.starts()};
  constexpr std::uint64_t kComparison = std::uint64_t{kLoadsTimedTogether} * kReadingsCompared;
  const MissCount count = count_misses(counted, 2 * kComparison + 5, 100, Clock::calibrate());
  chase(chased, 2 * kComparison);
  EXPECT_EQ(counted.at, chased.at);
  EXPECT_LE(count.loads, 2 * kComparison);
  EXPECT_LE(count.misses, count.loads);
}

// 5 %: a busy machine interrupts, and other threads of the core take turns.
TEST(CountMisses, FindsHardlyAnyInTheFirstLevelCache) {
  const LineCycle cycle = *LineCycle::create(4096, PageSize::k4KiB, 1, 1);
  ChaseState state{cycle.starts()};
  const MissCount count = count_misses(state, std::uint64_t{1} << 22, 100, Clock::calibrate());
  ASSERT_GT(count.loads, 0U);
  EXPECT_LT(static_cast<double>(count.misses), 0.05 * static_cast<double>(count.loads));
}

}  // namespace
}  // namespace nvmemu::workloads
