// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/link_steps.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "counters/sampler/code/guarded_read.h"

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

// A list of nodes of a page each, whose links are `kLink` bytes from their begin.
class ListWalkTest : public testing::Test {
 protected:
  static constexpr std::size_t kNodeWords = 512;
  static constexpr std::int32_t kLink = 24;

  void make(std::size_t nodes, std::uintptr_t last) {
    memory_.assign(nodes * kNodeWords, 0);
    for (std::size_t i = 0; i < nodes; ++i) link_of(i) = i + 1 < nodes ? address(i + 1) : last;
  }
  std::uintptr_t address(std::size_t node) const {
    return reinterpret_cast<std::uintptr_t>(memory_.data() + node * kNodeWords);
  }
  std::uintptr_t& link_of(std::size_t node) { return memory_[node * kNodeWords + kLink / sizeof memory_[0]]; }
  std::optional<ListWalk> walk(double longest_ns = std::numeric_limits<double>::infinity()) const {
    return walk_list(clock_, address(0) + kLink, kLink, 0, longest_ns);
  }

  std::vector<std::uintptr_t> memory_;
  const Clock clock_ = Clock::calibrate();
};

TEST_F(ListWalkTest, TimesWhatComesAfterHundredsOfLinks) {
  make(1000, 0);
  const auto walked = walk();
  ASSERT_TRUE(walked);
  for (std::size_t i = 0; i < ListWalk::kReadings; ++i) {
    EXPECT_GT(walked->step_ns[i], 0.3) << "each waits for the one before it, if only in the nearest cache";
    EXPECT_EQ(walked->places[i], address(512 + 16 * i) + kLink);
  }
}

TEST_F(ListWalkTest, TellsNothingOfAListThatEnds) {
  make(500, 0);
  EXPECT_FALSE(walk());
}

TEST_F(ListWalkTest, TellsNothingOfAListThatLeadsNowhere) {
  make(500, std::uintptr_t{1} << 60);
  EXPECT_FALSE(walk());
}

TEST_F(ListWalkTest, TellsNothingOfWhatCannotBeRead) {
  make(1000, 0);
  link_of(300) = kFaulted;  // what a faulted read gives, as the handler makes it
  EXPECT_FALSE(walk());
}

TEST_F(ListWalkTest, GivesUpWhereStepsTakeTooLong) {
  make(1000, 0);
  EXPECT_FALSE(walk(0.01));
}

TEST_F(ListWalkTest, GoesRoundARing) {
  make(3, 0);
  link_of(2) = address(0);
  const auto walked = walk();
  ASSERT_TRUE(walked);
  EXPECT_EQ(walked->places[0], address(512 % 3) + kLink);
}

}  // namespace
}  // namespace nvmemu
