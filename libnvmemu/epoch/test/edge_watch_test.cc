// SPDX-License-Identifier: Apache-2.0
#include "epoch/edge_watch.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr std::uint64_t kInterval = 20'000;

class EdgeWatchTest : public testing::Test {
 protected:
  // An edge, so long after the last one; whether it was paid at.
  bool edge_after(std::uint64_t ticks) {
    now_ += ticks;
    if (watch_.passes_by()) return false;
    ++looks_;
    if (!watch_.is_due(now_, kInterval)) return false;
    watch_.paid(now_);
    return true;
  }

  EdgeWatch watch_{};
  std::uint64_t now_ = 1'000'000;
  int looks_ = 0;
};

TEST_F(EdgeWatchTest, PaysAtEachEdgeThatIsAnIntervalAfterTheLast) {
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(edge_after(kInterval));
  EXPECT_FALSE(edge_after(kInterval / 2));
  EXPECT_TRUE(edge_after(kInterval / 2));
}

TEST_F(EdgeWatchTest, PassesMostOfManyCloseEdgesBy) {
  for (int i = 0; i < 10'000; ++i) edge_after(10);
  EXPECT_LT(looks_, 1500);
}

TEST_F(EdgeWatchTest, PaysAmongCloseEdgesAboutOnceAnInterval) {
  int paid = 0;
  for (int i = 0; i < 20'000; ++i) paid += edge_after(10) ? 1 : 0;
  EXPECT_GE(paid, 9);  // in the time of ten intervals
  EXPECT_LE(paid, 11);
}

TEST_F(EdgeWatchTest, LooksAtEachEdgeAfterALongIntervalThoughOthersAreClose) {
  for (int close : {1, 2, 8}) {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(edge_after(10 * kInterval)) << i << ", " << close << " close ones between";
      for (int j = 0; j < close; ++j) EXPECT_FALSE(edge_after(100));
    }
  }
}

TEST_F(EdgeWatchTest, AfterManyCloseEdgesPaysForALongIntervalSoonAfterItsEnd) {
  for (int i = 0; i < 1000; ++i) edge_after(10);
  int edges = 1;
  for (bool paid = edge_after(10 * kInterval); !paid; paid = edge_after(10)) ++edges;
  EXPECT_LE(edges, 9);
  EXPECT_TRUE(edge_after(10 * kInterval)) << "and at once the next time";
}

TEST_F(EdgeWatchTest, WhereNothingIsEverDuePassesEdgesByToo) {
  int looks = 0;
  for (int i = 0; i < 10'000; ++i) {
    now_ += 1000;
    if (watch_.passes_by()) continue;
    ++looks;
    EXPECT_FALSE(watch_.is_due(now_, ~std::uint64_t{0}));
  }
  EXPECT_LT(looks, 1500);
}

}  // namespace
}  // namespace nvmemu
