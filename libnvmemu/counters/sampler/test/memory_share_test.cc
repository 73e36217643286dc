// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/memory_share.h"

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
