// SPDX-License-Identifier: Apache-2.0
// Numbers worked by hand.
#include "counters/pmu/stall_time.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr LevelLatencies kLatencies{.memory_ns = 90, .last_level_ns = 20, .inner_ns = 5};
constexpr double kGigahertz = 3;

double stall(Formula formula, const RoleCounts& counts, const LevelLatencies& latencies = kLatencies) {
  return memory_stall_cycles(formula, counts, latencies, kGigahertz);
}

TEST(MemoryStallCycles, DirectIsTheStallEvent) {
  RoleCounts counts;
  counts[Role::kStall] = 1e6;
  counts[Role::kMiss] = 7;
  EXPECT_EQ(stall(Formula::kDirect, counts), 1e6);
}

// W = 4.5: 1000 * 4.5 * 100 / (50 + 4.5 * 100) = 900.
TEST(MemoryStallCycles, WeightedTakesTheMissesPart) {
  RoleCounts counts;
  counts[Role::kStall] = 1000;
  counts[Role::kHit] = 50;
  counts[Role::kMiss] = 100;
  EXPECT_DOUBLE_EQ(stall(Formula::kWeighted, counts), 900);
}

TEST(MemoryStallCycles, WeightedTakesHitsFromAllReads) {
  RoleCounts counts;
  counts[Role::kStall] = 1000;
  counts[Role::kReads] = 150;
  counts[Role::kMiss] = 100;
  EXPECT_DOUBLE_EQ(stall(Formula::kWeighted, counts), 900);
}

// Misses counted by where they were served: 60 here and 40 at 180 ns, 60 * 90 + 40 * 180 = 12600 ns against
// 100 hits * 20 ns: 12600 / 14600.
TEST(MemoryStallCycles, RemoteLoadsWeighMore) {
  RoleCounts counts;
  counts[Role::kStall] = 1460;
  counts[Role::kHit] = 100;
  counts[Role::kLocalDram] = 60;
  counts[Role::kRemoteDram] = 40;
  LevelLatencies latencies = kLatencies;
  latencies.remote_memory_ns = 180;
  EXPECT_DOUBLE_EQ(stall(Formula::kWeighted, counts, latencies), 1260);
}

// 10 * 90 = 900 of 10 * 90 + 20 * 20 + 40 * 5 = 1500.
TEST(MemoryStallCycles, FillShareDividesByWhatEachLevelTakes) {
  RoleCounts counts;
  counts[Role::kStall] = 3000;
  counts[Role::kInnerHit] = 40;
  counts[Role::kHit] = 20;
  counts[Role::kLocalDram] = 10;
  EXPECT_DOUBLE_EQ(stall(Formula::kFillShare, counts), 1800);
}

// 10 fills of 90 ns at 3 GHz: 2700 cycles; two at once: half of that.
TEST(MemoryStallCycles, FillLatencyDividesByFillsAtOnce) {
  RoleCounts counts;
  counts[Role::kLocalDram] = 10;
  EXPECT_DOUBLE_EQ(stall(Formula::kFillLatency, counts), 2700);
  counts[Role::kInFlight] = 800;
  counts[Role::kAnyInFlight] = 400;
  EXPECT_DOUBLE_EQ(stall(Formula::kFillLatency, counts), 1350);
}

TEST(MemoryStallCycles, AreNoMoreThanThereWere) {
  RoleCounts counts;
  counts[Role::kLocalDram] = 10;
  counts[Role::kCycles] = 1000;
  EXPECT_DOUBLE_EQ(stall(Formula::kFillLatency, counts), 1000);
}

TEST(MemoryStallCycles, NothingCountedIsNoStall) {
  for (const Formula formula :
       {Formula::kDirect, Formula::kWeighted, Formula::kFillShare, Formula::kFillLatency}) {
    EXPECT_EQ(stall(formula, {}), 0);
  }
}

TEST(MemoryLoads, TakeWhicheverWasCounted) {
  RoleCounts counts;
  counts[Role::kMiss] = 100;
  EXPECT_EQ(memory_loads(counts), 100);
  counts[Role::kLocalDram] = 70;
  counts[Role::kRemoteDram] = 50;
  EXPECT_EQ(memory_loads(counts), 120);
}

// 40 waits, of loads that 30 times hit a cache and 10 times did not: 10 are memory's.
TEST(MemoryEpisodes, LeaveTheCachesOut) {
  RoleCounts counts;
  counts[Role::kEpisodes] = 40;
  counts[Role::kMiss] = 10;
  counts[Role::kHit] = 20;
  counts[Role::kInnerHit] = 10;
  EXPECT_EQ(memory_episodes(Formula::kDirect, counts), 40);
  EXPECT_DOUBLE_EQ(memory_episodes(Formula::kFillShare, counts), 10);
  EXPECT_EQ(memory_episodes(Formula::kWeighted, {}), 0);
}

}  // namespace
}  // namespace nvmemu
