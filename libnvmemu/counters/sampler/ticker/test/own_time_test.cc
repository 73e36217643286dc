// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/own_time.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kPeriodNs = 1e6;

TEST(OwnTimeTest, IsAllOfASampleWithoutBursts) {
  OwnTime own;
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, TheFirstSampleStandsForWhatComesAfterTheLastToo) {
  OwnTime own;
  own.begin(kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 1.5 * kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, LeavesOutABurstThatWasOverBeforeTheNextSample) {
  OwnTime own;
  own.on_burst_after_sample(0.4e6, 0.5e6, kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.6e6);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, OfALongBurstOnlyWhatIsBeyondTheDroppedSamples) {
  OwnTime own;
  own.on_burst_after_sample(2.5e6, 2.5e6, kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.5e6);
}

TEST(OwnTimeTest, CarriesWhatExceedsASample) {
  OwnTime own;
  own.on_burst(1.5e6);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), 0.5e6);
}

TEST(OwnTimeTest, ABurstOfNoLengthCostsNothing) {
  OwnTime own;
  own.on_burst_after_sample(0, 0, kPeriodNs);
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

TEST(OwnTimeTest, ForgetsWhatIsDropped) {
  OwnTime own;
  own.on_burst(1e6);
  own.forget();
  EXPECT_DOUBLE_EQ(own.take(kPeriodNs), kPeriodNs);
}

}  // namespace
}  // namespace nvmemu
