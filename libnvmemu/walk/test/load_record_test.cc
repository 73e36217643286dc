// SPDX-License-Identifier: Apache-2.0
#include "walk/load_record.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr WalkScale kScale{
    .ns_per_tick = 0.5, .fence_ticks = 60, .threshold_ticks = 200, .longest_ticks = 2000};

class LoadRecordTest : public testing::Test {
 protected:
  void first(double ticks, int count = 1, WalkWorth worth = WalkWorth::kShort) {
    for (int i = 0; i < count; ++i) record_.add(ticks, 0, walk(worth), kScale);
  }
  void again(double ticks, int count = 1, WalkWorth worth = WalkWorth::kShort) {
    for (int i = 0; i < count; ++i) record_.add(0, ticks, walk(worth), kScale);
  }
  void next_walk(std::uint32_t later = 1) {
    ++number_;
    at_ += later;
  }
  WalkInfo walk(WalkWorth worth) const { return {.number = number_, .at = at_, .worth = worth}; }
  Verdict verdict() const { return record_.verdict(kScale); }

  LoadRecord record_{};
  std::uint32_t number_ = 1, at_ = 0xfffffff0;  // which soon begins anew
};

TEST_F(LoadRecordTest, IsNotKnownBeforeItWasExecutedOften) {
  EXPECT_FALSE(verdict().is_known());
  first(360, 10);
  EXPECT_FALSE(verdict().is_known());
  first(360, 10);
  EXPECT_TRUE(verdict().is_known());
}

TEST_F(LoadRecordTest, ALoadThatAlwaysMissesIsAllMemorys) {
  first(360, 100);
  EXPECT_DOUBLE_EQ(verdict().share, 1);
  EXPECT_DOUBLE_EQ(verdict().miss_ns, 150);  // without the fences'
}

TEST_F(LoadRecordTest, OfFewReadingsThatSayTheSameTheOppositeMayBeTrue) {
  first(360, 20);
  const double of_few = verdict().variance;
  EXPECT_GT(of_few, 0.01);
  for (int i = 0; i < 11; ++i) {
    next_walk();
    first(360, 100);
  }
  EXPECT_DOUBLE_EQ(verdict().share, 1);
  EXPECT_LT(verdict().variance, of_few / 50);
}

TEST_F(LoadRecordTest, SharesAreOfTimeAndNotOfLoads) {
  first(360, 50);  // 300 each
  first(160, 50);  // 100 each
  EXPECT_NEAR(verdict().share, 0.75, 0.001);
  EXPECT_EQ(verdict().misses, 50);
  EXPECT_EQ(verdict().readings, 100);
}

TEST_F(LoadRecordTest, LaterTouchesTakeWhatSomeOfThemDid) {
  first(360, 10);  // 3000
  again(0, 900);   // untimed,
  again(90, 100);  // and 30 each where timed
  EXPECT_NEAR(verdict().share, 3000. / (3000 + 30 * 1000), 0.002);
}

TEST_F(LoadRecordTest, InterruptedReadingsAreNeither) {
  first(360, 100);
  first(50000, 100);
  EXPECT_EQ(verdict().executions, 100);
  EXPECT_DOUBLE_EQ(verdict().miss_ns, 150);
}

TEST_F(LoadRecordTest, BetterWalksReplaceWhatWorseOnesHaveSaid) {
  first(360, 100, WalkWorth::kDisturbed);
  EXPECT_EQ(verdict().misses, 100);
  first(160, 100, WalkWorth::kShort);
  EXPECT_EQ(verdict().misses, 0);
  first(360, 100, WalkWorth::kDisturbed);
  EXPECT_EQ(verdict().misses, 0);
  again(70, 300, WalkWorth::kLong);
  EXPECT_EQ(verdict().readings, 0);
  EXPECT_EQ(verdict().executions, 300);
  first(360, 100, WalkWorth::kShort);
  EXPECT_EQ(verdict().misses, 0);
  first(360, 100, WalkWorth::kLong);
  EXPECT_EQ(verdict().misses, 100);
}

// Of a load that was hardly executed then, before the program went on to other memory.
TEST_F(LoadRecordTest, ALongWalkThatHasSaidLittleSilencesNoShortOnes) {
  again(70, 15, WalkWorth::kLong);
  EXPECT_EQ(verdict().worth, WalkWorth::kLong);
  first(360, 100, WalkWorth::kDisturbed);
  EXPECT_EQ(verdict().misses, 0);
  first(360, 100, WalkWorth::kShort);
  EXPECT_EQ(verdict().misses, 100);
  EXPECT_EQ(verdict().executions, 100);
  EXPECT_EQ(verdict().worth, WalkWorth::kShort);
}

TEST_F(LoadRecordTest, OfALargeSetShortWalksTellWhatLongOnesDo) {
  first(360, 100, WalkWorth::kLong);
  first(360, 100, WalkWorth::kShort);
  EXPECT_EQ(verdict().misses, 200);
}

// But of one that turns out to have become small, the long ones alone.
TEST_F(LoadRecordTest, OfALargeSetLongWalksAddToWhatShortOnesTold) {
  first(360, 100, WalkWorth::kShort);
  next_walk();
  first(360, 10, WalkWorth::kLong);
  EXPECT_EQ(verdict().misses, 110);
  first(160, 40, WalkWorth::kLong);
  EXPECT_EQ(verdict().misses, 0);
  EXPECT_LT(verdict().executions, 20);
}

TEST_F(LoadRecordTest, WhatTheLastWalkSawIsToldApart) {
  first(360, 1000);
  EXPECT_TRUE(verdict().misses_now());
  next_walk();
  first(90, 100);
  EXPECT_TRUE(verdict().mostly_misses());
  EXPECT_FALSE(verdict().misses_now());
}

TEST_F(LoadRecordTest, ManyReadingsOfOneMomentAreFewIndependentOnes) {
  first(360, 1000);
  first(160, 3000);
  const double of_one = verdict().variance;
  for (int i = 0; i < 9; ++i) {
    next_walk();
    first(360, 1000);
    first(160, 3000);
  }
  EXPECT_GT(of_one, 0.02);
  EXPECT_LT(verdict().variance, of_one / 8);
}

TEST_F(LoadRecordTest, AReadingInEachWalkIsIndependent) {
  for (int i = 0; i < 10; ++i) {
    next_walk();
    first(i < 5 ? 360 : 160);
  }
  EXPECT_NEAR(verdict().variance, verdict().share * (1 - verdict().share) / 11, 1e-3);
}

TEST_F(LoadRecordTest, TheOlderWalksCountLess) {
  for (int i = 0; i < 200; ++i) {
    next_walk();
    first(360, 100);
  }
  EXPECT_LE(verdict().walks, 12);
  for (int i = 0; i < 24; ++i) {
    next_walk();
    first(100, 100);
  }
  EXPECT_LT(verdict().share, 0.5);
}

// Ten walks within ten ticks, and then one in a hundred: the program's memory was slow at first.
TEST_F(LoadRecordTest, AWalkCountsForTheTimeThatItStandsFor) {
  for (int i = 0; i < 10; ++i) {
    next_walk();
    first(660, 200);
  }
  EXPECT_DOUBLE_EQ(verdict().miss_ns, 300);
  next_walk(100);
  first(360, 200);
  EXPECT_LT(verdict().miss_ns, 220) << "150, and as many of the first as tell anything";
  next_walk(100);
  first(360, 200);
  EXPECT_LT(verdict().miss_ns, 190);
}

TEST_F(LoadRecordTest, WalksThatFollowEvenlyCountAlike) {
  for (int i = 0; i < 10; ++i) {
    next_walk(100);
    first(i % 2 == 0 ? 660 : 360, 200);
  }
  EXPECT_NEAR(verdict().miss_ns, 225, 1);
  EXPECT_EQ(verdict().misses, 2000);
}

// A program comes by a load now sooner and now later.
TEST_F(LoadRecordTest, AWalkThatComesALittleLaterCountsLikeTheOthers) {
  for (int i = 0; i < 10; ++i) {
    next_walk(i % 2 == 0 ? 50 : 150);
    first(i % 2 == 0 ? 660 : 360, 200);
  }
  EXPECT_EQ(verdict().misses, 2000);
}

TEST_F(LoadRecordTest, AWalkThatHasReadLittleReplacesNothing) {
  for (int i = 0; i < 10; ++i) {
    next_walk();
    first(660, 12);
  }
  next_walk(10000);
  first(360, 12);
  EXPECT_EQ(verdict().misses, 132);
}

TEST_F(LoadRecordTest, WalksOneAfterAnotherCountAlikeHoweverFineTheirTimeIsTold) {
  for (int i = 0; i < 10; ++i) {
    next_walk(0);
    first(i % 2 == 0 ? 660 : 360, 200);
  }
  EXPECT_EQ(verdict().misses, 2000);
}

}  // namespace
}  // namespace nvmemu
