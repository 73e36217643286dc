// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/probe/probe_schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "counters/sampler/learned/gap_weights.h"

namespace nvmemu {
namespace {

constexpr double kGapNs = 2e6;  // the shortest that is one

// Runs `ms` of CPU time in steps of 1 ms, with bursts of `cost_ns` whenever they are due; how many there
// were.
int run(ProbeSchedule& schedule, int ms, double cost_ns, std::set<std::size_t>* bins = nullptr) {
  int bursts = 0;
  for (int i = 0; i < ms; ++i) {
    schedule.on_time(1e6);
    if (!schedule.due(true)) continue;
    if (bins != nullptr) bins->insert(GapWeights::bin_of(schedule.since_gap_ms()));
    schedule.on_armed();
    schedule.on_burst(cost_ns);
    ++bursts;
  }
  return bursts;
}

TEST(ProbeSchedule, KeepsToItsBudgetInTheLongRun) {
  ProbeSchedule schedule(0.01, 32, 1);
  constexpr double kCostNs = 400e3;
  const int bursts = run(schedule, 100000, kCostNs);
  // 1 % of 100 s, and 16 ms in advance.
  EXPECT_NEAR(bursts * kCostNs, 1000e6 + 16e6, 2 * kCostNs);
}

TEST(ProbeSchedule, ProbesSoonAfterTheStart) {
  ProbeSchedule schedule(0.01, 32, 1);
  EXPECT_GE(run(schedule, 20, 400e3), 2);
}

TEST(ProbeSchedule, KeepsAReserveForLoadsThatNothingIsKnownOf) {
  ProbeSchedule schedule(0.01, 32, 1);
  while (schedule.due(false)) schedule.on_burst(400e3);
  int bursts = 0;
  for (; schedule.due(true); ++bursts) schedule.on_burst(400e3);
  EXPECT_GE(bursts, 8);
}

TEST(ProbeSchedule, NeverProbesWithoutABudget) {
  ProbeSchedule schedule(0, 32, 1);
  EXPECT_EQ(run(schedule, 10000, 1), 0);
}

TEST(ProbeSchedule, VisitsEveryTimeSinceAGap) {
  ProbeSchedule schedule(0.05, 32, 7);
  std::set<std::size_t> bins;
  for (int epoch = 0; epoch < 200; ++epoch) {
    schedule.on_injection(kGapNs);
    EXPECT_DOUBLE_EQ(schedule.since_gap_ms(), 0);
    if (schedule.due(true)) bins.insert(0);
    run(schedule, 50, 400e3, &bins);
  }
  EXPECT_EQ(bins.size(), GapWeights::kBins);
}

// Delays come at the ends of epochs; what is earned until the next must not be spent before the steady state.
TEST(ProbeSchedule, LeavesEnoughForSharesOnceItIsSteady) {
  ProbeSchedule schedule(0.01, 32, 1);
  int shares = 0;
  for (int epoch = 0; epoch < 200; ++epoch) {
    schedule.on_injection(50e6);
    for (int i = 0; i < 100; ++i) {
      schedule.on_time(1e6);
      if (!schedule.due(true)) continue;
      const bool is_share = schedule.next_kind() == BurstKind::kShare;
      schedule.on_armed();
      schedule.on_burst(is_share ? 1.5e6 : 160e3);
      shares += is_share ? 1 : 0;
    }
  }
  EXPECT_GE(shares, 60);  // 1.5 ms are earned in an epoch
}

TEST(ProbeSchedule, InjectedTimeEarnsCreditToo) {
  ProbeSchedule with(0.01, 32, 1);
  ProbeSchedule without(0.01, 32, 1);
  int more = 0;
  int fewer = 0;
  for (int epoch = 0; epoch < 100; ++epoch) {
    with.on_injection(400e6);
    without.on_injection(kGapNs);
    more += run(with, 100, 400e3);
    fewer += run(without, 100, 400e3);
  }
  EXPECT_GT(more, 2 * fewer);
}

TEST(ProbeSchedule, AsksForSharesOnlyInTheSteadyState) {
  ProbeSchedule schedule(0.05, 32, 1);
  EXPECT_EQ(schedule.next_kind(), BurstKind::kShare);  // nothing has been injected yet
  std::set<BurstKind> steady;
  for (int epoch = 0; epoch < 50; ++epoch) {
    schedule.on_injection(kGapNs);
    for (int ms = 0; ms < 100; ++ms) {
      const bool is_steady = schedule.since_gap_ms() >= 32;
      EXPECT_TRUE(is_steady || schedule.next_kind() == BurstKind::kNatural);
      if (is_steady) steady.insert(schedule.next_kind());
      if (schedule.due(true)) schedule.on_armed();
      schedule.on_time(1e6);
    }
  }
  EXPECT_EQ(steady.size(), 2u);
}

// Injects `injected_ns` after each ms that the thread runs, until that is all there is to see.
double since_gap_between_injections_ms(double injected_ns) {
  ProbeSchedule schedule(0.01, 32, 1);
  for (int ms = 0; ms < 200; ++ms) {
    schedule.on_time(1e6);
    schedule.on_injection(injected_ns);
  }
  return schedule.since_gap_ms();
}

TEST(ProbeSchedule, ShortInjectionsCountTheMoreTheLongerTheyAre) {
  EXPECT_GT(since_gap_between_injections_ms(10e3), 32);
  EXPECT_LT(since_gap_between_injections_ms(500e3), 32);
  EXPECT_LT(since_gap_between_injections_ms(1500e3), since_gap_between_injections_ms(500e3));
  EXPECT_LT(since_gap_between_injections_ms(kGapNs), 1.1);
}

TEST(ProbeSchedule, AsksForSharesNowAndThenWhereTheSteadyStateIsNotToBeHad) {
  ProbeSchedule schedule(1, 32, 1);
  int shares = 0;
  for (int ms = 0; ms < 1000; ++ms) {
    schedule.on_time(1e6);
    schedule.on_injection(1.5e6);
    if (!schedule.due(true)) continue;
    if (schedule.next_kind() == BurstKind::kShare) ++shares;
    schedule.on_armed();
  }
  EXPECT_GE(shares, 5);
}

}  // namespace
}  // namespace nvmemu
