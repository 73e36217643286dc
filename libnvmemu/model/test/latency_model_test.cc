// SPDX-License-Identifier: Apache-2.0
#include "model/latency_model.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

EpochCounts stall(double ns) {
  EpochCounts counts;
  counts.stall_ns = ns;
  return counts;
}

TEST(StallModel, ScalesStallTimeByTheExtraLatency) {
  // 80 ms of stall at 200 ns are 400,000 serial misses; each takes 300 ns more.
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 500}), 120e6);
}

TEST(StallModel, CountsMissesByWhatTheyTakeWhereThatIsKnown) {
  EpochCounts counts = stall(80e6);
  counts.misses_in_a_row = counts.stall_ns / 160;  // 500,000 misses, each 300 ns more
  EXPECT_DOUBLE_EQ(stall_delay_ns(counts, {.base_ns = 200, .target_ns = 500}), 150e6);
}

TEST(StallModel, InjectsNothingWhereNothingIsSlower) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 200}), 0);
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 200, .target_ns = 150}), 0);
}

TEST(StallModel, InjectsNothingWithoutStalls) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(0), {.base_ns = 200, .target_ns = 500}), 0);
}

TEST(StallModel, IsHarmlessWithoutABase) {
  EXPECT_DOUBLE_EQ(stall_delay_ns(stall(80e6), {.base_ns = 0, .target_ns = 500}), 0);
}

EpochCounts counted(const LoadCounts& misses, double stall_ns = 0) {
  EpochCounts counts = stall(stall_ns);
  counts.loads = misses;
  return counts;
}

TEST(MissModel, ChargesEveryMissTheExtraLatency) {
  // Equation 1: 400,000 misses of 300 ns more each.
  EXPECT_DOUBLE_EQ(misses_delay_ns(counted({.misses = 400e3}), {.base_ns = 200, .target_ns = 500}), 120e6);
}

TEST(WeightedModel, SharesTheStallOutByWhatHitsAndMissesTake) {
  // W = 210 / 30 = 7; 7 * 1000 of 7 * 1000 + 3000 is 0.7 of 10 ms, or 33,333 misses in a row at 210 ns.
  const EpochCounts counts = counted({.hits = 3000, .misses = 1000, .cache_stall_ns = 10e6});
  EXPECT_NEAR(weighted_delay_ns(counts, {.base_ns = 210, .target_ns = 510, .cache_ns = 30}), 10e6, 1e-3);
}

TEST(WeightedModel, IsTheStallModelWhereEverythingMisses) {
  const EpochCounts counts = counted({.misses = 1000, .cache_stall_ns = 80e6});
  EXPECT_DOUBLE_EQ(weighted_delay_ns(counts, {.base_ns = 200, .target_ns = 500, .cache_ns = 30}), 120e6);
}

TEST(WeightedModel, ChargesNothingForHits) {
  const EpochCounts counts = counted({.hits = 1000, .cache_stall_ns = 80e6});
  EXPECT_EQ(weighted_delay_ns(counts, {.base_ns = 200, .target_ns = 500, .cache_ns = 30}), 0);
}

TEST(RemoteShareModel, ChargesRemoteMemorysPartOfTheStall) {
  // 1000 * 200 of 1000 * 200 + 2000 * 100 is half of 10 ms: 25,000 remote misses in a row, each 300 ns more.
  const EpochCounts counts = counted({.local = 2000, .remote = 1000}, 10e6);
  EXPECT_DOUBLE_EQ(
      remote_share_delay_ns(counts, {.base_ns = 100, .target_ns = 500, .cache_ns = 0, .remote_ns = 200}),
      7.5e6);
}

TEST(RemoteShareModel, LeavesLocalMemoryAsItIs) {
  const EpochCounts counts = counted({.local = 2000}, 10e6);
  EXPECT_EQ(
      remote_share_delay_ns(counts, {.base_ns = 100, .target_ns = 500, .cache_ns = 0, .remote_ns = 200}), 0);
}

TEST(EpisodeModel, ChargesEachEpisodeOnce) {
  EXPECT_DOUBLE_EQ(episodes_delay_ns(counted({.episodes = 400e3}), {.base_ns = 200, .target_ns = 500}),
                   120e6);
}

// Whatever is missing, or senseless: no delay, and never a negative or an infinite one.
TEST(EveryModel, InjectsNothingWhereItCannotTell) {
  const EpochCounts some = counted({10, 10, 5, 5, 1e6, 10}, 1e6);
  const EpochCounts negative = counted({-10, -10, -5, -5, -1e6, -10}, -1e6);
  const ReadLatency usual{.base_ns = 100, .target_ns = 300, .cache_ns = 20, .remote_ns = 150};
  for (const DelayModel delay_ns :
       {misses_delay_ns, stall_delay_ns, weighted_delay_ns, remote_share_delay_ns, episodes_delay_ns}) {
    EXPECT_GT(delay_ns(some, usual), 0);
    EXPECT_EQ(delay_ns({}, usual), 0);
    EXPECT_EQ(delay_ns(negative, usual), 0);
    EXPECT_EQ(delay_ns(some, {.base_ns = 100, .target_ns = 90, .cache_ns = 20, .remote_ns = 150}), 0);
    EXPECT_EQ(delay_ns(some, {.base_ns = 0, .target_ns = 300}), 0);
  }
}

}  // namespace
}  // namespace nvmemu
