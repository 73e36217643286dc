// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/link_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "counters/sampler/guarded_read.h"

namespace nvmemu {
namespace {

TEST(StepReadings, TellNothingWhileTheyAreFew) {
  StepReadings steps;
  EXPECT_EQ(steps.mean_ns(), 0);
  for (int i = 0; i < 3; ++i) steps.add(200, true);
  EXPECT_EQ(steps.mean_ns(), 0);
  steps.add(200, true);
  EXPECT_DOUBLE_EQ(steps.mean_ns(), 200);
}

TEST(StepReadings, LeaveOutTheLongestAndTheShortest) {
  StepReadings steps;
  for (const double ns : {100.0, 200.0, 210.0, 5000.0}) steps.add(ns, true);
  EXPECT_DOUBLE_EQ(steps.mean_ns(), 205);
}

TEST(StepReadings, FollowWhatChanges) {
  StepReadings steps;
  for (int i = 0; i < 100; ++i) steps.add(200, true);
  for (int i = 0; i < 32; ++i) steps.add(260, true);
  EXPECT_DOUBLE_EQ(steps.mean_ns(), 260);
}

TEST(StepReadings, AreForgottenWithTheLoad) {
  StepReadings steps;
  for (int i = 0; i < 100; ++i) steps.add(200, true);
  steps.clear();
  EXPECT_EQ(steps.mean_ns(), 0);
}

TEST(StepReadings, AreInHugePagesIfAllThatCountAre) {
  StepReadings steps;
  EXPECT_FALSE(steps.all_in_huge_pages());
  steps.add(200, true);
  EXPECT_TRUE(steps.all_in_huge_pages());
  steps.add(300, false);
  EXPECT_FALSE(steps.all_in_huge_pages());
  for (int i = 0; i < 31; ++i) steps.add(200, true);
  EXPECT_FALSE(steps.all_in_huge_pages());
  steps.add(200, true);
  EXPECT_TRUE(steps.all_in_huge_pages());
}

class Links : public testing::Test {
 protected:
  // How many of `count` links of that load, from `first` on, completed a set.
  int add(const void* load, std::uintptr_t first, std::uintptr_t count) {
    int sets = 0;
    for (std::uintptr_t i = 0; i < count; ++i) sets += links_.add(load, first + i, oldest_) ? 1 : 0;
    return sets;
  }

  const int one_ = 0, other_ = 0;
  RecentLinks links_;
  RecentLinks::Places oldest_{};
};

TEST_F(Links, AreGivenWhenAsManyHaveComeSince) {
  EXPECT_EQ(add(&one_, 100, 15), 0);
  EXPECT_EQ(add(&one_, 115, 1), 1);
  EXPECT_EQ(oldest_, (RecentLinks::Places{100, 101, 102, 103, 104, 105, 106, 107}));
}

TEST_F(Links, AreGivenOnce) {
  add(&one_, 100, 16);
  EXPECT_EQ(add(&one_, 116, 7), 0);
  EXPECT_EQ(add(&one_, 123, 1), 1);
  EXPECT_EQ(oldest_.front(), 108u);
}

TEST_F(Links, AreOfOneLoad) {
  add(&one_, 100, 15);
  EXPECT_EQ(add(&other_, 500, 15), 0);
  EXPECT_EQ(add(&one_, 115, 1), 1);
  EXPECT_EQ(oldest_.back(), 107u);
}

TEST_F(Links, GiveWayToThoseOfOtherLoads) {
  const int others[8] = {};
  add(&one_, 100, 15);
  for (const int& other : others) EXPECT_EQ(add(&other, 500, 1), 0);
  EXPECT_EQ(add(&one_, 115, 1), 0);  // the fifteen are forgotten
}

TEST(TimeSteps, AreOfDependentLoads) {
  constexpr std::size_t kPageBytes = 4096;
  const std::vector<char> memory(64 * kPageBytes, 'x');
  std::vector<std::uintptr_t> places;
  for (std::size_t page = 0; page + 1 < 64; ++page)
    places.push_back(((reinterpret_cast<std::uintptr_t>(memory.data()) / kPageBytes) + 1 + page) *
                     kPageBytes);
  places.pop_back();
  const Clock clock = Clock::calibrate();
  time_steps(clock, places, 0);  // brings translations
  double least_ns = time_steps(clock, places, 0);
  for (int i = 0; i < 100; ++i) least_ns = std::min(least_ns, time_steps(clock, places, 0));
  EXPECT_GT(least_ns, 0.3);  // a load's latency in the nearest cache, and not a share of it
  EXPECT_LT(least_ns, 1000);
}

TEST(TimeSteps, AreNoneOfWhatCannotBeRead) {
  // What a faulted read gives, as the handler makes it.
  const std::vector<std::uint64_t> memory(2 * 512, kFaulted);
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(memory.data() + 512) & ~std::uintptr_t{4095};
  const Clock clock = Clock::calibrate();
  EXPECT_EQ(time_steps(clock, std::array{place, place}, 0), 0);
}

TEST(TimeSteps, AreNoneOfLessThanTwoPlaces) {
  const std::vector<char> memory(2 * 4096);
  const auto place = reinterpret_cast<std::uintptr_t>(memory.data());
  const Clock clock = Clock::calibrate();
  EXPECT_EQ(time_steps(clock, std::array{place}, 0), 0);
  EXPECT_EQ(time_steps(clock, {}, 0), 0);
}

}  // namespace
}  // namespace nvmemu
