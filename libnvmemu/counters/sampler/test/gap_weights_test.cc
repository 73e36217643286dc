// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/gap_weights.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr std::size_t kSteady = GapWeights::kBins - 1;

TEST(GapWeights, BinsDoubleInLength) {
  EXPECT_EQ(GapWeights::bin_of(0), 0u);
  EXPECT_EQ(GapWeights::bin_of(0.99), 0u);
  EXPECT_EQ(GapWeights::bin_of(1), 1u);
  EXPECT_EQ(GapWeights::bin_of(3.9), 2u);
  EXPECT_EQ(GapWeights::bin_of(31.9), 5u);
  EXPECT_EQ(GapWeights::bin_of(32), kSteady);
  EXPECT_EQ(GapWeights::bin_of(1e9), kSteady);
  for (std::size_t bin = 0; bin < GapWeights::kBins; ++bin)
    EXPECT_EQ(GapWeights::bin_of(GapWeights::bin_start_ms(bin)), bin);
}

TEST(GapWeights, AreOneBeforeAnythingIsKnown) {
  const GapWeights weights;
  for (std::size_t bin = 0; bin < GapWeights::kBins; ++bin) EXPECT_DOUBLE_EQ(weights.weight(bin), 1);
}

TEST(GapWeights, FallByAsMuchAsLoadsSlowDown) {
  GapWeights weights;
  for (int i = 0; i < 1000; ++i) {
    weights.add(0.5, 350, 200, 16);
    weights.add(40, 200, 200, 16);
  }
  EXPECT_NEAR(weights.weight(0), 200.0 / 350, 0.01);
  EXPECT_DOUBLE_EQ(weights.weight(kSteady), 1);
}

TEST(GapWeights, CompareEachLoadWithItselfOnly) {
  GapWeights weights;
  for (int i = 0; i < 1000; ++i) {
    weights.add(0.5, 300, 300, 16);  // a slow load, always as slow
    weights.add(40, 10, 10, 16);     // a fast one
  }
  EXPECT_NEAR(weights.weight(0), 1, 0.01);
}

TEST(GapWeights, OneNoisyBurstHardlyMatters) {
  GapWeights weights;
  weights.add(0.5, 400, 200, 16);
  EXPECT_GT(weights.weight(0), 0.55);  // it alone says 0.5, and 16 readings are few
}

TEST(GapWeights, LeaveOutLoadsThatNeverWentToMemory) {
  GapWeights weights;
  weights.add(0.5, 0, 0, 16);
  EXPECT_DOUBLE_EQ(weights.weight(0), 1);
}

}  // namespace
}  // namespace nvmemu
