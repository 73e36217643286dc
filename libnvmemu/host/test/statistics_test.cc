// SPDX-License-Identifier: Apache-2.0
#include "host/statistics.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(Median, IsTheMiddleValue) {
  EXPECT_DOUBLE_EQ(median({3, 1, 100}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 100}), 3);
  EXPECT_DOUBLE_EQ(median({}), 0);
}

TEST(UndisturbedMean, IsTheMeanOfWhatIsNotFarAboveTheMedian) {
  EXPECT_DOUBLE_EQ(undisturbed_mean({100, 104, 108, 1000}), 104);
  EXPECT_DOUBLE_EQ(undisturbed_mean({5}), 5);
  EXPECT_DOUBLE_EQ(undisturbed_mean({}), 0);
}

TEST(Summarize, GivesTheSpreadRelativeToTheMedian) {
  const Figure figure = summarize({90, 100, 120});
  EXPECT_DOUBLE_EQ(figure.value, 100);
  EXPECT_DOUBLE_EQ(figure.spread, 0.3);
}

TEST(Summarize, NothingAndZerosHaveNoSpread) {
  EXPECT_DOUBLE_EQ(summarize({}).spread, 0);
  EXPECT_DOUBLE_EQ(summarize({0, 0}).spread, 0);
}

}  // namespace
}  // namespace nvmemu
