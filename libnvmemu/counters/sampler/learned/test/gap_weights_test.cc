// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/gap_weights.h"

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

constexpr UsualReadings kAllMisses{.share = 1, .miss_ns = 200};

// A burst's readings, all from memory, of `ns` each.
ProbeSums misses(double ns) {
  return {.readings = 16, .from_memory = 16, .memory_ns = 16 * ns, .total_ns = 16 * ns};
}

TEST(GapWeights, FallByAsMuchAsMissesSlowDown) {
  GapWeights weights;
  for (int i = 0; i < 1000; ++i) {
    weights.add(0.5, misses(350), kAllMisses);
    weights.add(40, misses(200), kAllMisses);
  }
  EXPECT_NEAR(weights.weight(0), 200.0 / 350, 0.01);
  EXPECT_DOUBLE_EQ(weights.weight(kSteady), 1);
  EXPECT_NEAR(weights.steady_ns(), 200, 1);
}

TEST(GapWeights, FallByAsMuchAsMissesBecomeMore) {
  GapWeights weights;
  weights.expect(200);
  for (int i = 0; i < 1000; ++i) {
    weights.add(0.5, {.readings = 16, .from_memory = 8, .memory_ns = 8 * 200, .total_ns = 2000},
                {.share = 0.25, .miss_ns = 200});
  }
  EXPECT_NEAR(weights.weight(0), 0.5, 0.02);
}

// What hits a cache must not make misses look shorter.
TEST(GapWeights, LookAtMissesOnly) {
  GapWeights weights;
  for (int i = 0; i < 1000; ++i) {
    weights.add(0.5, misses(300), {.share = 1, .miss_ns = 300});
    weights.add(40, misses(300), {.share = 1, .miss_ns = 300});
    weights.add(40, {.readings = 16, .from_memory = 0, .memory_ns = 0, .total_ns = 100}, {.share = 0});
  }
  EXPECT_NEAR(weights.weight(0), 1, 0.01);
}

TEST(GapWeights, OneNoisyBurstHardlyMatters) {
  GapWeights weights;
  weights.expect(200);
  weights.add(0.5, misses(400), kAllMisses);
  EXPECT_GT(weights.weight(0), 0.9);  // it alone says 0.5, and 16 readings are few
}

// The steady state was never seen: what it would be is known from the calibration.
TEST(GapWeights, CompareWithWhatIsExpectedWhereTheSteadyStateIsUnknown) {
  GapWeights weights;
  weights.expect(200);
  EXPECT_DOUBLE_EQ(weights.steady_ns(), 200);
  const LoadEntry never_probed;
  for (int i = 0; i < 1000; ++i) weights.add(0.5, misses(250), never_probed.usual(weights.steady_ns()));
  EXPECT_NEAR(weights.weight(0), 0.8, 0.01);
}

// One load's misses take longer than another's: that alone is no slowdown.
TEST(GapWeights, CompareEachLoadWithItself) {
  GapWeights weights;
  for (int i = 0; i < 1000; ++i) {
    weights.add(40, misses(150), {.share = 1, .miss_ns = 150});
    weights.add(0.5, misses(300), {.share = 1, .miss_ns = 300});
  }
  EXPECT_NEAR(weights.weight(0), 1, 0.01);
}

}  // namespace
}  // namespace nvmemu
