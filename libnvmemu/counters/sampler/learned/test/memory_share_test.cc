// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/memory_share.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

ProbeSums sums(double memory, double memory_ns, double hits, double hit_ns) {
  return {.readings = memory + hits,
          .from_memory = memory,
          .memory_ns = memory * memory_ns,
          .total_ns = memory * memory_ns + hits * hit_ns};
}

TEST(MemoryShare, IsTimeNotCount) {
  // p L / (p L + (1 - p) t) with p = 0.1, L = 180, t = 2: 18 / (18 + 1.8).
  const Share share = memory_share(sums(1000, 180, 9000, 2), SharePool{});
  EXPECT_NEAR(share.value, 18 / 19.8, 0.001);
}

TEST(MemoryShare, OfALoadThatAlwaysHitsIsNearNothing) {
  EXPECT_LT(memory_share(sums(0, 0, 400, 35), SharePool{}).value, 0.01);
}

TEST(MemoryShare, WithoutProbesIsThePools) {
  const SharePool pool{.bursts = 99, .share_sum = 89.5, .square_sum = 81};
  EXPECT_NEAR(memory_share({}, pool).value, 0.9, 1e-9);
}

TEST(MemoryShare, BeforeAnyProbeIsThePrior) {
  EXPECT_DOUBLE_EQ(memory_share({}, SharePool{}).value, kPriorShare);
}

TEST(MemoryShare, OwnProbesOutweighThePool) {
  const SharePool all_memory{.bursts = 1000, .share_sum = 1000, .square_sum = 1000};
  EXPECT_LT(memory_share(sums(0, 0, 64, 10), all_memory).value, 0.07);
}

TEST(MemoryShare, ForgivesWhatTheProbesThemselvesDisturbed) {
  const SharePool pool{
      .bursts = 1000, .share_sum = 0, .square_sum = 0, .disturbed = 0.01, .disturbed_hit_ns = 35};
  EXPECT_LT(memory_share(sums(1, 180, 99, 35), pool).value, 0.01);
  EXPECT_GT(memory_share(sums(20, 180, 80, 35), pool).value, 0.5);
  const SharePool sure{
      .bursts = 1000, .share_sum = 1000, .square_sum = 1000, .disturbed = 0.01, .disturbed_hit_ns = 35};
  EXPECT_GT(memory_share(sums(97, 180, 3, 35), sure).value, 0.99);
}

TEST(MemoryShare, ForgivesAsManyReadingsAsTwinsWereLost) {
  const SharePool pool{.bursts = 1000, .share_sum = 0, .square_sum = 0};
  ProbeSums probed = sums(4, 180, 96, 4);
  EXPECT_GT(memory_share(probed, pool).value, 0.6);
  EXPECT_GT(burst_share(probed), 0.6);
  probed.lost = 4;
  EXPECT_LT(memory_share(probed, pool).value, 0.01);
  EXPECT_LT(burst_share(probed), 0.05);
}

// Half of all twins lost: what hits has lost as many as are left of it, what never hits has lost nothing.
TEST(MemoryShare, ForgivesNothingOfALoadThatAlwaysMisses) {
  const SharePool pool{.bursts = 1000, .share_sum = 1000, .square_sum = 1000};
  ProbeSums hits = sums(50, 180, 50, 4), misses = sums(100, 180, 0, 0), mostly = sums(90, 180, 10, 4);
  hits.lost = misses.lost = mostly.lost = 50;
  EXPECT_LT(burst_share(hits), 0.01);
  EXPECT_NEAR(memory_share(misses, pool).value, 1, 1e-4);
  EXPECT_NEAR(burst_share(mostly), 80 * 180.0 / (80 * 180 + 10 * 4), 1e-9);  // 10 of the 90 were hits
  mostly.lost = 100;
  EXPECT_DOUBLE_EQ(burst_share(mostly), 0) << "nothing can be told";
}

TEST(MemoryShare, ForgivesLittleOfALoadThatHitsTheInnerCaches) {
  const SharePool pool{
      .bursts = 1000, .share_sum = 0, .square_sum = 0, .disturbed = 0.02, .disturbed_hit_ns = 35};
  // One reading of 16 from memory: at 2 ns a hit, most of the load's time is memory's.
  EXPECT_GT(memory_share(sums(1, 180, 15, 2), pool).value, 0.6);
}

TEST(MemoryShare, GetsSurerWithProbes) {
  const SharePool pool{};
  EXPECT_GT(memory_share(sums(8, 180, 8, 35), pool).variance,
            memory_share(sums(80, 180, 80, 35), pool).variance);
}

TEST(SharePool, VarianceFallsWithBursts) {
  const SharePool few{.bursts = 4, .share_sum = 2, .square_sum = 2};
  const SharePool many{.bursts = 400, .share_sum = 200, .square_sum = 200};
  EXPECT_NEAR(few.variance(), 0.25 / 4, 1e-9);
  EXPECT_NEAR(many.variance(), 0.25 / 400, 1e-9);
}

}  // namespace
}  // namespace nvmemu
