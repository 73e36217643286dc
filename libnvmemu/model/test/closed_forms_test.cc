// SPDX-License-Identifier: Apache-2.0
// Programs whose answer is known, as a processor would count them, and what each model makes of them: the
// cases of docs/models.md. Every step waits for loads of 200 ns, which shall take 500: 300 ns longer, if
// nothing else is the step's bound.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/latency_model.h"

namespace nvmemu {
namespace {

constexpr double kBaseNs = 200, kTargetNs = 500, kCacheNs = 40, kSteps = 1e6;
constexpr ReadLatency kLatency{.base_ns = kBaseNs, .target_ns = kTargetNs, .cache_ns = kCacheNs};

// What a step takes is the longer of its misses (which overlap) and the work that depends on none of them.
// Its stall is counted as Intel does: time in which nothing executes.
struct Step {
  double misses = 1;
  double hidden_work_ns = 0;

  double takes_ns(double latency_ns) const { return std::max(latency_ns, hidden_work_ns); }
  double truth_ns() const { return kSteps * (takes_ns(kTargetNs) - takes_ns(kBaseNs)); }
  EpochCounts counts() const {
    const double stall_ns = std::max(0.0, kBaseNs - hidden_work_ns);
    EpochCounts counts;
    counts.stall_ns = kSteps * stall_ns;
    counts.loads.misses = kSteps * misses;
    counts.loads.cache_stall_ns = counts.stall_ns;
    counts.loads.episodes = stall_ns > 0 ? kSteps : 0;
    return counts;
  }
};

TEST(PointerChase, IsRightByEveryModel) {
  const Step chase;
  ASSERT_EQ(chase.truth_ns(), 300e6);
  for (const DelayModel delay_ns : {stall_delay_ns, weighted_delay_ns, episodes_delay_ns, misses_delay_ns}) {
    EXPECT_NEAR(delay_ns(chase.counts(), kLatency), 300e6, 1);
  }
}

TEST(FourChains, AreOverestimatedByMissesOnly) {
  const Step chains{.misses = 4};
  ASSERT_EQ(chains.truth_ns(), 300e6);
  EXPECT_DOUBLE_EQ(misses_delay_ns(chains.counts(), kLatency), 1200e6);
  EXPECT_DOUBLE_EQ(stall_delay_ns(chains.counts(), kLatency), 300e6);
  EXPECT_NEAR(weighted_delay_ns(chains.counts(), kLatency), 300e6, 1);
  EXPECT_DOUBLE_EQ(episodes_delay_ns(chains.counts(), kLatency), 300e6);
}

TEST(HiddenWork, IsUnderestimatedByStallsAndNotByEpisodes) {
  const Step work{.hidden_work_ns = 120};  // of 200 ns, 80 are stalled for
  ASSERT_EQ(work.truth_ns(), 300e6);
  EXPECT_DOUBLE_EQ(stall_delay_ns(work.counts(), kLatency), 120e6);  // 80 / 200 of it
  EXPECT_NEAR(weighted_delay_ns(work.counts(), kLatency), 120e6, 1);
  EXPECT_DOUBLE_EQ(episodes_delay_ns(work.counts(), kLatency), 300e6);
  EXPECT_DOUBLE_EQ(misses_delay_ns(work.counts(), kLatency), 300e6);
}

TEST(WorkThatHidesAll, IsSeenByNoneButMissesWhichOverestimatesIt) {
  const Step work{.hidden_work_ns = 350};
  ASSERT_EQ(work.truth_ns(), 150e6);
  EXPECT_DOUBLE_EQ(stall_delay_ns(work.counts(), kLatency), 0);
  EXPECT_DOUBLE_EQ(episodes_delay_ns(work.counts(), kLatency), 0);
  EXPECT_DOUBLE_EQ(misses_delay_ns(work.counts(), kLatency), 300e6);
}

// The chains' lines come back one after another, some ns apart, and something can execute in between.
TEST(ChainsThatComeBackApart, AreOverestimatedByEpisodes) {
  EpochCounts counts = Step{.misses = 4}.counts();
  counts.loads.episodes = 4 * kSteps;
  EXPECT_DOUBLE_EQ(episodes_delay_ns(counts, kLatency), 1200e6);
  EXPECT_DOUBLE_EQ(stall_delay_ns(counts, kLatency), 300e6);
}

// Each step one miss and ten hits of the last-level cache, one after another; all of it is stall.
TEST(HitsAndMisses, AreToldApartByTheirWeights) {
  EpochCounts counts;
  counts.loads = {
      .hits = 10 * kSteps, .misses = kSteps, .cache_stall_ns = kSteps * (kBaseNs + 10 * kCacheNs)};
  EXPECT_NEAR(weighted_delay_ns(counts, kLatency), 300e6, 1);
  counts.stall_ns = counts.loads.cache_stall_ns;  // whoever took all of it for memory's
  EXPECT_DOUBLE_EQ(stall_delay_ns(counts, kLatency), 900e6);
}

}  // namespace
}  // namespace nvmemu
