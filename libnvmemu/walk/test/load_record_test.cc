// SPDX-License-Identifier: Apache-2.0
#include "walk/load_record.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr WalkScale kScale{
    .ns_per_tick = 0.5, .fence_ticks = 60, .threshold_ticks = 200, .longest_ticks = 2000};

class LoadRecordTest : public testing::Test {
 protected:
  void first(double ticks, int count = 1, bool is_long = false) {
    for (int i = 0; i < count; ++i) record_.add(ticks, 0, is_long, kScale);
  }
  void again(double ticks, int count = 1, bool is_long = false) {
    for (int i = 0; i < count; ++i) record_.add(0, ticks, is_long, kScale);
  }
  Verdict verdict() const { return record_.verdict(kScale); }

  LoadRecord record_{};
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
  EXPECT_DOUBLE_EQ(verdict().variance, 0);
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

TEST_F(LoadRecordTest, LongWalksReplaceWhatShortOnesHaveSaid) {
  first(360, 100);
  again(70, 100, true);
  EXPECT_EQ(verdict().misses, 0);
  EXPECT_EQ(verdict().executions, 100);
  first(360, 100);  // of another short one
  EXPECT_EQ(verdict().misses, 0);
  first(360, 100, true);
  EXPECT_EQ(verdict().misses, 100);
}

TEST_F(LoadRecordTest, TheOlderCountsLess) {
  first(360, 20000);
  first(100, 20000);
  EXPECT_LT(verdict().share, 0.5);
  EXPECT_LT(verdict().readings, 10000);
}

}  // namespace
}  // namespace nvmemu
