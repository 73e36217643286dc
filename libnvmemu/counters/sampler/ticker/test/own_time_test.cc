// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/own_time.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kPeriodNs = 1e6;

TEST(OwnTimeTest, IsAllOfASampleWithoutWalks) {
  OwnTime own;
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, LeavesOutAWalkThatWasOverBeforeTheNextSample) {
  OwnTime own;
  own.on_walk_after_sample(0.4e6, kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.6e6);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, OfALongWalkOnlyWhatIsBeyondTheDroppedSamples) {
  OwnTime own;
  own.on_walk_after_sample(2.5e6, kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.5e6);
}

TEST(OwnTimeTest, LeavesOutWhatSamplesThemselvesTake) {
  constexpr double kSampleNs = 60e3;
  OwnTime own;
  own.on_interruption(kSampleNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs - kSampleNs);
}

TEST(OwnTimeTest, CarriesWhatExceedsASample) {
  OwnTime own;
  own.on_interruption(1.5e6);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.5e6);
}

TEST(OwnTimeTest, ForgetsWhatIsDropped) {
  OwnTime own;
  own.on_interruption(1e6);
  own.forget();
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

}  // namespace
}  // namespace nvmemu
