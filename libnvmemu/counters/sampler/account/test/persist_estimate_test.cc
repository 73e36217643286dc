// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/persist_estimate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nvmemu {
namespace {

constexpr double kOwnNs = 200;
const ByTier<PersistTarget> kTargets{PersistTarget{.first_ns = 1000, .line_ns = 26},
                                     PersistTarget{.first_ns = 700, .own_ns = kOwnNs}, PersistTarget{}};

// A walk of rounds of so much work each, with a persist of `lines` in the tier.
WalkPersists rounds(std::uint32_t count, double work_ns, std::uint32_t lines = 1, TierId tier = 0) {
  WalkPersists walk{.ns = count * work_ns};
  walk.modelled.persists[tier] = count;
  walk.modelled.lines[tier] = count * lines;
  walk.all = walk.modelled;
  return walk;
}
WalkPersists work(double ns) { return {.ns = ns}; }

PersistCounts estimate(std::initializer_list<WalkPersists> walks, double cpu_ns) {
  PersistEstimate persists(&kTargets, kOwnNs);
  for (const WalkPersists& walk : walks) persists.add(walk);
  return persists.take(cpu_ns);
}

// 1 ms of rounds that each take the 200 ns that a persist takes here: 5000, of which each takes 800 more.
TEST(PersistEstimateTest, RoundsThatWaitForPersistsTakeTheTarget) {
  const PersistCounts counts = estimate({rounds(50, 20), rounds(40, 20)}, 1e6);
  EXPECT_NEAR(counts.persists, 5000, 1e-6);
  EXPECT_NEAR(counts.delay_ns, 5000 * 800, 1e-3);
  EXPECT_EQ(counts.model_error_ns, 0);  // whatever the work takes, it is done beside
  EXPECT_NEAR(counts.variance_ns2, 0, 1);
}

TEST(PersistEstimateTest, WorkBesideIsFreeUpToThat) {
  // 500 ns of work: natively a round takes these, and on the target 1000.
  const PersistCounts half = estimate({rounds(10, 500)}, 1e6);
  EXPECT_NEAR(half.persists, 2000, 1e-6);
  EXPECT_NEAR(half.delay_ns, 1e6, 1e-3);
  // A core on which the work takes 750 or 333 instead: a third, or twice as much longer.
  EXPECT_NEAR(half.model_error_ns, 1e6 * (1000 / (500 / 1.5) - 1000 / 750.) / 2, 1e-3);
  const PersistCounts hidden = estimate({rounds(10, 5000)}, 1e6);
  EXPECT_NEAR(hidden.persists, 200, 1e-6);
  EXPECT_EQ(hidden.delay_ns, 0);
}

// Of lines that the last flush has thrown out: 200 ns each, and 150 to fetch it again.
TEST(PersistEstimateTest, LinesThatAreThrownOutTakeLongerHere) {
  WalkPersists walk = rounds(50, 20);
  walk.modelled.refetched[0] = walk.all.refetched[0] = 50;
  walk.steps = 500;
  walk.rounds = {.fence = 1, .persists = 1, .instructions = 10};
  PersistEstimate persists(&kTargets, kOwnNs, 150);
  EXPECT_DOUBLE_EQ(persists.likely_persist_ns(walk), 350);
  persists.add(walk);
  const PersistCounts counts = persists.take(1e6);
  EXPECT_NEAR(counts.persists, 1e6 / 350, 1e-6);
  EXPECT_NEAR(counts.delay_ns, 1e6 / 350 * 650, 1e-3);
}

TEST(PersistEstimateTest, FurtherLinesTakeLonger) {
  EXPECT_NEAR(estimate({rounds(10, 20, 11)}, 1e6).delay_ns, 5000 * (1000 + 10 * 26 - kOwnNs), 1e-3);
  EXPECT_NEAR(estimate({rounds(10, 20, 11)}, 1e6).lines, 55'000, 1e-3);
}

// Rounds of 64 lines in as many blocks: by latency 1000 + 63 * 26, and the medium takes 64 * 100.
TEST(PersistEstimateTest, RoundsAreNoFasterThanTheMediumWritesItsBlocks) {
  ByTier<PersistTarget> targets = kTargets;
  targets[0].block_ns = 100;
  targets[0].block_bytes = 256;
  PersistEstimate persists(&targets, kOwnNs);
  WalkPersists walk = rounds(10, 20, 64);
  walk.modelled.blocks[0] = walk.all.blocks[0] = 10 * 64;
  persists.add(walk);
  const PersistCounts counts = persists.take(1e6);
  EXPECT_NEAR(counts.delay_ns, 5000 * (6400 - kOwnNs), 1e-3);
  EXPECT_NEAR(counts.busy_ns[0], 5000 * 6400, 1e-3);
  walk.modelled.blocks[0] = 10 * 16;  // side by side: it keeps up
  persists = PersistEstimate(&targets, kOwnNs);
  persists.add(walk);
  EXPECT_NEAR(persists.take(1e6).delay_ns, 5000 * (1000 + 63 * 26 - kOwnNs), 1e-3);
}

// Of 5000 rounds, each of 11 lines, whatever of that is waited for.
TEST(PersistEstimateTest, SaysHowLongMediaAreBusy) {
  const PersistCounts counts = estimate({rounds(10, 20, 11)}, 1e6);
  EXPECT_NEAR(counts.busy_ns[0], 5000 * 11 * 26, 1e-3);
  EXPECT_EQ(counts.busy_ns[1], 0);
}

// Whatever is done beside.
TEST(PersistEstimateTest, AMediumIsWaitedForInAnyCase) {
  EXPECT_NEAR(estimate({rounds(10, 5000, 1, 1)}, 1e6).delay_ns, 200 * 500, 1e-3);
}

TEST(PersistEstimateTest, WhatIsNotEmulatedTakesWhatItTakesHere) {
  const PersistCounts counts = estimate({rounds(10, 20, 1, 2)}, 1e6);
  EXPECT_NEAR(counts.persists, 5000, 1e-6);
  EXPECT_EQ(counts.delay_ns, 0);
}

// Half of the time goes to persists: by the number of walks, however many instructions those have passed.
TEST(PersistEstimateTest, EachWalkStandsForAsMuchTime) {
  const PersistCounts counts = estimate({rounds(3, 20), work(1e6), rounds(3, 20), work(10)}, 1e6);
  EXPECT_NEAR(counts.persists, 2500, 1e-6);
  EXPECT_NEAR(counts.delay_ns, 2500 * 800, 1e-3);
  // Shares of 4, 0, 4 and 0: their variance, over their number; twice that, as they count in the next epoch,
  // too.
  EXPECT_NEAR(counts.variance_ns2, 1e12 * 16. / 3 / 4 * 2, 1e3);
}

TEST(PersistEstimateTest, TimeWithoutAWalkIsAsThatBefore) {
  PersistEstimate persists(&kTargets, kOwnNs);
  EXPECT_EQ(persists.take(1e6).delay_ns, 0);  // it waits for the first
  persists.add(rounds(10, 20));
  EXPECT_NEAR(persists.take(1e6).persists, 10'000, 1e-6);
  for (int i = 0; i < 2000; ++i) EXPECT_NEAR(persists.take(1e6).persists, 5000, 1e-6);
  EXPECT_NEAR(std::sqrt(persists.take(1e6).variance_ns2), 4e6, 1);  // all that one walk has said
}

// Each epoch's walks count half as much in the next.
TEST(PersistEstimateTest, WhatWasSaidIsForgotten) {
  PersistEstimate persists(&kTargets, kOwnNs);
  for (int i = 0; i < 4; ++i) persists.add(rounds(10, 20));
  persists.take(1e6);
  for (int i = 0; i < 2; ++i) persists.add(work(1000));
  EXPECT_NEAR(persists.take(1e6).persists, 2500, 1e-6);
  for (int i = 0; i < 6; ++i) persists.add(work(1000));
  EXPECT_NEAR(persists.take(1e6).persists, 5000. * 1 / 8, 1e-6);
}

TEST(PersistEstimateTest, WhereNothingIsEmulatedNothingIsEstimated) {
  PersistEstimate nothing(nullptr, kOwnNs);
  nothing.add(rounds(10, 20));
  EXPECT_EQ(nothing.take(1e6).persists, 0);
  PersistEstimate not_known(&kTargets, 0);
  not_known.add(rounds(10, 20));
  EXPECT_EQ(not_known.take(1e6).persists, 0);
}

// Of a thread that waits for loads a fifth of its time, which is walked nine times as often.
TEST(PersistEstimateTest, TicksThatAreWalkedMoreOftenCountByTheirTime) {
  PersistEstimates persists(&kTargets, kOwnNs);
  for (int i = 0; i < 100; ++i) persists.on_tick(i % 5 == 0, 1e4);
  for (int i = 0; i < 9; ++i) persists.add(true, work(1e5), 0);
  persists.add(false, rounds(10, 20), 0);
  EXPECT_NEAR(persists.take(1e6).persists, 4000, 1e-6);
}

// Whatever a model, or the calibration, says of it.
TEST(PersistEstimateTest, AMeasuredRoundTakesTheTarget) {
  for (const double each_ns : {170., 230., 400.}) {
    PersistEstimate persists(&kTargets, kOwnNs);
    persists.add(rounds(10, 100), each_ns);
    const PersistCounts counts = persists.take(1e6);
    EXPECT_NEAR(counts.persists, 1e6 / each_ns, 1e-6);
    EXPECT_NEAR(counts.delay_ns, 1e6 / each_ns * (1000 - each_ns), 1e-3);
    EXPECT_EQ(counts.model_error_ns, 0);
  }
  PersistEstimate work_bound(&kTargets, kOwnNs);
  work_bound.add(rounds(10, 100), 1500);
  EXPECT_EQ(work_bound.take(1e6).delay_ns, 0);
}

// Whose rounds are so long that the modelled part has not one of them.
TEST(PersistEstimateTest, AMeasuredRoundNeedNoModel) {
  PersistEstimate persists(&kTargets, kOwnNs);
  WalkPersists walk = work(300);
  walk.all.persists[0] = 1;
  walk.all.lines[0] = 3;
  persists.add(walk, 500);
  const PersistCounts counts = persists.take(1e6);
  EXPECT_NEAR(counts.persists, 2000, 1e-6);
  EXPECT_NEAR(counts.lines, 6000, 1e-6);
  EXPECT_NEAR(counts.delay_ns, 2000 * (1052 - 500), 1e-3);
}

TEST(PersistEstimateTest, ARoundIsLikelyToTakeWhatItsInstructionsTake) {
  const PersistEstimate persists(&kTargets, kOwnNs);
  WalkPersists walk = work(500);
  EXPECT_EQ(persists.likely_persist_ns(walk), 0);
  walk.steps = 1000;
  walk.rounds = {.fence = 0x1000, .persists = 2, .instructions = 6000};
  EXPECT_EQ(persists.likely_persist_ns(walk), 1500);
  walk.rounds.instructions = 60;
  EXPECT_EQ(persists.likely_persist_ns(walk), kOwnNs);
}

// By a counter that both walks have seen.
TEST(PersistEstimateTest, RoundsBetweenWalksAreMeasured) {
  PersistEstimates persists(&kTargets, kOwnNs);
  WalkPersists walk = rounds(10, 100);
  walk.rounds = {.fence = 0x1000, .persists = 1, .instructions = 100};
  walk.steps = 1000;
  walk.rounds.difference[0] = 1;
  persists.add(false, walk, 1e6);
  walk.rounds.first[0] = 4000;
  persists.on_tick(false, 1e6);
  persists.take(1e6);  // as the model says
  persists.add(true, walk, 2e6);
  persists.on_tick(true, 1e6);
  EXPECT_NEAR(persists.take(1e6).persists, 4000, 1e-6);
}

// Of 12 ms, 2 close to walks with 200 ns a round, and 10 with 100: as many rounds as there were.
TEST(PersistEstimateTest, WhatIsMeasuredStandsForTheTimeOverWhichItWas) {
  PersistEstimate persists(&kTargets, kOwnNs);
  persists.add(rounds(10, 20), 200, 1e6);
  persists.add(rounds(10, 20), 200, 1e6);
  persists.add(rounds(10, 20), 100, 10e6);
  const PersistCounts counts = persists.take(12e6);
  EXPECT_NEAR(counts.persists, 10'000 + 100'000, 1e-3);
  EXPECT_NEAR(counts.delay_ns, 10'000 * 800. + 100'000 * 900., 1);
}

}  // namespace
}  // namespace nvmemu
