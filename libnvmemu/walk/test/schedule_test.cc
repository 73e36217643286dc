// SPDX-License-Identifier: Apache-2.0
#include "walk/schedule.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kMs = 1e6;
const Verdict kUnknown{};
Verdict short_walks(double share, double misses, double readings, double executions) {
  return {.share = share,
          .variance = 0.01,
          .misses = misses,
          .readings = readings,
          .executions = executions,
          .worth = WalkWorth::kShort};
}
const Verdict kMisses = short_walks(0.9, 900, 1000, 1000);
const Verdict kHits = short_walks(0.2, 20, 1000, 5000);
const Verdict kNothingNew = short_walks(0, 0, 0, 5000);
const Verdict kSettled = [] {
  Verdict settled = kMisses;
  settled.variance = 0.001;
  return settled;
}();

TEST(WalkSchedule, BeginsWithTheFirstTicks) {
  WalkSchedule schedule(0.01);
  EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, true, kUnknown).steps, WalkSchedule::kShort.steps);
}

// What a thread does when it waits for no load, or for loads of a small set, is to be known as well: of the
// latter every other walk is short.
TEST(WalkSchedule, WalksEvenlyWhereAllTimeCounts) {
  WalkSchedule evenly(0.001, {}, true), usually(0.001);
  EXPECT_EQ(evenly.at_tick(TickMoment::kSteady, false, kUnknown).steps, WalkSchedule::kShort.steps);
  EXPECT_TRUE(evenly.at_tick(TickMoment::kSteady, true, kUnknown).counts_rounds);
  EXPECT_FALSE(usually.at_tick(TickMoment::kSteady, true, kUnknown).counts_rounds);
  EXPECT_EQ(usually.at_tick(TickMoment::kSteady, false, kUnknown).steps, 0u);
  evenly.on_time(1e9);
  for (const auto& plan : {WalkSchedule::kLong, WalkSchedule::kShort, WalkSchedule::kLong})
    EXPECT_EQ(evenly.at_tick(TickMoment::kSteady, true, kHits).steps, plan.steps);
}

TEST(WalkSchedule, NeverWalksWithoutABudget) {
  WalkSchedule schedule(0);
  schedule.on_time(1e12);
  EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, true, kUnknown).steps, 0u);
}

TEST(WalkSchedule, KeepsToItsShareOfTheTime) {
  WalkSchedule schedule(0.01);
  constexpr double kCost = 0.3 * kMs;
  double walked = 0, passed = 0;
  for (int tick = 0; tick < 10000; ++tick) {
    schedule.on_time(kMs);
    passed += kMs;
    if (schedule.at_tick(TickMoment::kSteady, true, kMisses).steps == 0) continue;
    schedule.on_walk(kCost, 3000);
    walked += kCost;
  }
  EXPECT_NEAR(walked / passed, 0.01, 0.0015);  // with what there is at first
}

// Those of a short run are not the only ones, whatever it took to set walks up; others are paid for in full.
TEST(WalkSchedule, TheFirstWalksLeaveSomeForTheNext) {
  WalkSchedule schedule(0.005);
  schedule.on_walk(0.2 * kMs, 0);
  for (int walk = 0; walk < 4; ++walk) {
    schedule.on_walk(1000 * kMs, 647);
    EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, true, kMisses).steps, WalkSchedule::kShort.steps);
  }
  schedule.on_walk(1000 * kMs, 3000);
  schedule.on_time(100'000 * kMs);
  EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, true, kMisses).steps, 0u);
}

// What there is at first is for what is not known, and for one walk of each thread's own; one more may be
// owed for.
TEST(WalkSchedule, WhatOthersHaveToldOfIsNotToldAgainAtOnce) {
  const auto walks_of = [](const Verdict& verdict, bool evenly) {
    WalkSchedule schedule(0.005, {}, evenly);
    int walks = 0;
    for (int tick = 0; tick < 20; ++tick) {
      schedule.on_time(kMs);
      if (schedule.at_tick(TickMoment::kSteady, true, verdict).steps == 0) continue;
      schedule.on_walk(0.5 * kMs, 3000);
      ++walks;
    }
    return walks;
  };
  EXPECT_GE(walks_of(kMisses, false), 10);
  EXPECT_GE(walks_of(kSettled, true), 10);
  EXPECT_LE(walks_of(kSettled, false), 2);
}

// It is there as long as it was not spent.
TEST(WalkSchedule, WhatThereIsAtFirstStaysForWhatIsNotKnown) {
  WalkSchedule schedule(0.005);
  schedule.on_walk(0.5 * kMs, 3000);
  for (int tick = 0; tick < 1000; ++tick) {
    schedule.on_time(kMs);
    if (schedule.at_tick(TickMoment::kSteady, true, kSettled).steps > 0) schedule.on_walk(0.5 * kMs, 3000);
  }
  int walks = 0;
  for (; schedule.at_tick(TickMoment::kSteady, true, kMisses).steps > 0; ++walks)
    schedule.on_walk(0.5 * kMs, 3000);
  EXPECT_GE(walks, 8);
}

TEST(WalkSchedule, DelaysPayForMoreWalks) {
  WalkSchedule by_time(0.01), by_delays(0.01);
  const auto walks_in = [](WalkSchedule& schedule, auto pass) {
    int walks = 0;
    for (int tick = 0; tick < 10000; ++tick) {
      pass();
      if (schedule.at_tick(TickMoment::kSteady, true, kMisses).steps == 0) continue;
      schedule.on_walk(0.3 * kMs, 3000);
      ++walks;
    }
    return walks;
  };
  const int natively = walks_in(by_time, [&] { by_time.on_time(kMs); });
  EXPECT_GT(walks_in(by_delays, [&] { by_delays.on_injection(kMs); }), 3 * natively);
}

// A loop of 200 ms, of which half is likely to be memory's: there are some walks before it is over.
TEST(WalkSchedule, WhatIsNotKnownPaysForMoreWalks) {
  constexpr double kCost = 2 * kMs;
  const auto walks_in_a_loop = [](bool unknown) {
    WalkSchedule schedule(0.005);
    schedule.on_walk(kCost, 3000);
    for (int i = 0; i < 20; ++i) schedule.on_walk(kCost, 3000);
    schedule.on_time(8e3 * kMs);  // what it owed is paid back
    int walks = 0;
    for (int tick = 0; tick < 200; ++tick) {
      schedule.on_time(kMs);
      if (unknown) schedule.on_unknown(0.5 * kMs);
      if (schedule.at_tick(TickMoment::kSteady, true, kUnknown).steps == 0) continue;
      schedule.on_walk(kCost, 3000);
      ++walks;
    }
    return walks;
  };
  EXPECT_GE(walks_in_a_loop(true), walks_in_a_loop(false) + 4);
}

TEST(WalkSchedule, WalksFarWhereTheSetMayBeSmall) {
  WalkSchedule schedule(0.01);
  EXPECT_FALSE(schedule.at_tick(TickMoment::kSteady, true, kMisses).is_long());
  EXPECT_TRUE(schedule.at_tick(TickMoment::kSteady, true, kHits).is_long());
  EXPECT_TRUE(schedule.at_tick(TickMoment::kSteady, true, kNothingNew).is_long());
}

TEST(WalkSchedule, WalksFarWhereASetThatMissedDoesNoLonger) {
  WalkSchedule schedule(0.01);
  Verdict missed = kMisses;
  missed.last_missed = 0.01;
  EXPECT_TRUE(schedule.at_tick(TickMoment::kSteady, true, missed).is_long());
}

TEST(WalkSchedule, OfDisturbedTicksSomeTellOfWhatIsNotKnown) {
  WalkSchedule schedule(0.01);
  int walks = 0;
  for (int tick = 0; tick < 24; ++tick) {
    const WalkPlan plan = schedule.at_tick(TickMoment::kDisturbed, true, kUnknown);
    if (plan.steps == 0) continue;
    EXPECT_EQ(plan.worth, WalkWorth::kDisturbed);
    ++walks;
  }
  EXPECT_EQ(walks, 3);
  EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, true, kUnknown).worth, WalkWorth::kShort);
}

TEST(WalkSchedule, PassesDisturbedTicksByWhereMoreIsKnown) {
  WalkSchedule schedule(0.01);
  for (int tick = 0; tick < 50; ++tick)
    EXPECT_EQ(schedule.at_tick(TickMoment::kDisturbed, true, kMisses).steps, 0u) << tick;
}

TEST(WalkSchedule, AThreadThatIsAlwaysDisturbedRunsSo) {
  WalkSchedule schedule(0.01);
  WalkPlan plan;
  for (int tick = 0; tick < 100; ++tick) plan = schedule.at_tick(TickMoment::kDisturbed, true, kMisses);
  EXPECT_EQ(plan.worth, WalkWorth::kShort);
}

TEST(WalkSchedule, LeavesTheBudgetToTicksThatWait) {
  WalkSchedule schedule(0.01);
  EXPECT_EQ(schedule.at_tick(TickMoment::kSteady, false, kUnknown).steps, 0u);
  schedule.on_time(1000 * kMs);
  EXPECT_NE(schedule.at_tick(TickMoment::kSteady, false, kUnknown).steps, 0u);
}

}  // namespace
}  // namespace nvmemu
