// SPDX-License-Identifier: Apache-2.0
#include "paging/latency_quantiles.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(LatencyQuantiles, OneIsForAll) {
  const LatencyQuantiles same(5000);
  for (const double share : {0.0, 0.5, 1.0}) EXPECT_EQ(same.at(share), 5000);
  EXPECT_TRUE(LatencyQuantiles().empty());
  EXPECT_EQ(LatencyQuantiles().at(0.5), 0);
}

TEST(LatencyQuantiles, BetweenPointsTheLogarithmIsStraight) {
  const LatencyQuantiles table{{0.5, 100}, {0.9, 10'000}, {0.99, 20'000}};
  EXPECT_EQ(table.at(0), 100);
  EXPECT_EQ(table.at(0.5), 100);
  EXPECT_NEAR(table.at(0.7), 1000, 1e-6);
  EXPECT_NEAR(table.at(0.9), 10'000, 1e-6);
  EXPECT_EQ(table.at(1), 20'000);
}

TEST(LatencyQuantiles, CanBeShorter) {
  EXPECT_EQ(LatencyQuantiles({{0.5, 100}, {0.9, 200}}).less(30).at(1), 170);
}

}  // namespace
}  // namespace nvmemu
