// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/walked_samples.h"

#include <gtest/gtest.h>

#include <map>

namespace nvmemu {
namespace {

constexpr double kMs = 1e6;
constexpr double kBaseNs = 100;

class Told final : public VerdictSource {
 public:
  Verdict verdict_of(const LoadEntry& load) noexcept override { return verdicts[load.address]; }
  std::map<std::uintptr_t, Verdict> verdicts;
};

Verdict verdict(double share, double miss_ns) {
  return {.share = share, .miss_ns = miss_ns, .misses = 100, .readings = 100, .executions = 1000};
}

class WalkedSamplesTest : public testing::Test {
 protected:
  const LoadEntry& load(std::uintptr_t address, StallKind kind = StallKind::kLoad) {
    LoadEntry& entry = entries_[address];
    entry.address = address;
    entry.kind = kind;
    return entry;
  }
  EpochCounts take(bool settle = false) { return samples_.take(told_, pool_, settle); }

  std::map<std::uintptr_t, LoadEntry> entries_;
  Told told_;
  WalkedPool pool_;
  WalkedSamples samples_{kBaseNs};
};

TEST_F(WalkedSamplesTest, ChargesTheShareThatWalksHaveSeen) {
  told_.verdicts[1] = verdict(0.25, 200);
  samples_.add(&load(1), 8 * kMs);
  const EpochCounts counts = take();
  EXPECT_DOUBLE_EQ(counts.stall_ns, 2 * kMs);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), 200);
  EXPECT_DOUBLE_EQ(counts.held_ns[StallKind::kLoad], 8 * kMs);
}

TEST_F(WalkedSamplesTest, EachLoadsMissesTakeWhatItsOwnDid) {
  told_.verdicts[1] = verdict(1, 100);
  told_.verdicts[2] = verdict(1, 300);
  samples_.add(&load(1), 3 * kMs);
  samples_.add(&load(2), 3 * kMs);
  EXPECT_DOUBLE_EQ(take().miss_latency_ns(), 150);  // 30,000 and 10,000 of them in a row
}

TEST_F(WalkedSamplesTest, ALoadThatNeverMissedWaitsForNothing) {
  told_.verdicts[1] = Verdict{.readings = 5, .executions = 1000};
  samples_.add(&load(1), 8 * kMs);
  EXPECT_EQ(take().stall_ns, 0);
}

TEST_F(WalkedSamplesTest, OtherInstructionsAreNotCharged) {
  told_.verdicts[1] = verdict(1, 100);
  samples_.add(&load(1, StallKind::kOther), kMs);
  samples_.add(nullptr, kMs);
  const EpochCounts counts = take();
  EXPECT_EQ(counts.stall_ns, 0);
  EXPECT_EQ(counts.samples, 2u);
  EXPECT_EQ(counts.stall_samples, 0u);
}

// Where walks have seen stores before it that fetch lines; and not where it waits for a persist.
TEST_F(WalkedSamplesTest, FencesThatWaitForStoresAreCharged) {
  told_.verdicts[1] = verdict(1, 200);
  told_.verdicts[2] = verdict(0, 0);
  samples_.add(&load(1, StallKind::kPersist), 8 * kMs);
  samples_.add(&load(2, StallKind::kPersist), 8 * kMs);
  samples_.add(&load(3, StallKind::kPersist), 8 * kMs);  // that no walk has passed
  EXPECT_EQ(take().stall_ns, 8 * kMs);
}

TEST_F(WalkedSamplesTest, StoresThatFetchLinesAreCharged) {
  told_.verdicts[1] = verdict(0.5, 200);
  samples_.add(&load(1, StallKind::kStore), 8 * kMs);
  samples_.add(&load(2, StallKind::kStore), 8 * kMs);  // that no walk has passed
  told_.verdicts[3] = verdict(0, 0);
  samples_.add(&load(3, StallKind::kStore), 8 * kMs);
  const EpochCounts counts = take(true);
  EXPECT_EQ(counts.stall_samples, 1u);
  EXPECT_DOUBLE_EQ(counts.stall_ns, 4 * kMs);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), 200);
}

TEST_F(WalkedSamplesTest, KeepsBackWhatNoWalkHasPassedUntilOneHas) {
  samples_.add(&load(1), 4 * kMs);
  EXPECT_EQ(take().stall_ns, 0);
  told_.verdicts[1] = verdict(1, 100);
  EXPECT_DOUBLE_EQ(take().stall_ns, 4 * kMs);
  EXPECT_EQ(take().stall_ns, 0);
}

TEST_F(WalkedSamplesTest, WhatNoWalkHasPassedGetsTheMeanInTheEnd) {
  told_.verdicts[1] = verdict(0.2, 100);
  samples_.add(&load(1), 1000 * kMs);
  take();
  samples_.add(&load(2), 10 * kMs);
  EXPECT_NEAR(take(true).stall_ns, 2 * kMs, 0.01 * kMs);
  samples_.add(&load(3), 1000 * kMs);  // and where it goes on for too long
  EXPECT_NEAR(take().stall_ns, 200 * kMs, kMs);
}

TEST_F(WalkedSamplesTest, WhatIsSeldomExecutedIsNotKeptBackForGood) {
  told_.verdicts[1] = verdict(0.2, 100);
  samples_.add(&load(1), 1000 * kMs);
  EXPECT_EQ(take().unwalked_ns, 0);
  samples_.add(&load(2), 10 * kMs);
  double charged_ns = 0, unwalked_ns = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    const EpochCounts counts = take();
    charged_ns += counts.stall_ns;
    unwalked_ns += counts.unwalked_ns;
  }
  EXPECT_NEAR(charged_ns, 2 * kMs, 0.01 * kMs);
  EXPECT_EQ(unwalked_ns, charged_ns);
}

// Those that are known need room, too.
TEST_F(WalkedSamplesTest, ManyThatNoWalkHasPassedDoNotKeepOutTheOthers) {
  constexpr std::uintptr_t kUnknown = 1000;
  told_.verdicts[1] = verdict(1, 100);
  double charged_ns = 0, unwalked_ns = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (std::uintptr_t i = 0; i < 200; ++i) samples_.add(&load(kUnknown + i), 1 * kMs);
    samples_.add(&load(1), 100 * kMs);
    const EpochCounts counts = take();
    charged_ns += counts.stall_ns;
    unwalked_ns += counts.unwalked_ns;
  }
  EXPECT_NEAR(charged_ns - unwalked_ns, 300 * kMs, 1);
  EXPECT_GT(unwalked_ns, 0);
}

// Ten samples in all, of which eight waited: in which epoch they are charged makes no difference.
TEST_F(WalkedSamplesTest, WhatIsKeptBackIsAsUncertainAsWhatIsNot) {
  told_.verdicts[1] = told_.verdicts[3] = verdict(1, 100);
  for (int i = 0; i < 8; ++i) samples_.add(&load(1), 10 * kMs);
  samples_.add(&load(9, StallKind::kOther), 10 * kMs);
  samples_.add(&load(9, StallKind::kOther), 10 * kMs);
  const double at_once_ns2 = take().sampling_variance_ns2;
  EXPECT_GT(at_once_ns2, 0);
  for (int i = 0; i < 8; ++i) samples_.add(&load(2), 10 * kMs);
  EXPECT_EQ(take().sampling_variance_ns2, 0);
  told_.verdicts[2] = verdict(1, 100);
  samples_.add(&load(9, StallKind::kOther), 10 * kMs);
  samples_.add(&load(9, StallKind::kOther), 10 * kMs);
  EXPECT_DOUBLE_EQ(take().sampling_variance_ns2, at_once_ns2);
}

TEST_F(WalkedSamplesTest, WhatFewExecutionsTellCountsBesideTheMean) {
  told_.verdicts[1] = verdict(0, 0);
  samples_.add(&load(1), 1000 * kMs);
  take();
  told_.verdicts[2] = verdict(1, 100);
  told_.verdicts[2].executions = 12;
  samples_.add(&load(2), 16 * kMs);
  EXPECT_NEAR(take(true).stall_ns, 12 * kMs, 0.01 * kMs);
}

// Where it is not known yet whether a thread waits, it is likely to wait as it did.
TEST_F(WalkedSamplesTest, WhatIsKeptBackIsLikelyToHaveWaitedLikeTheRest) {
  told_.verdicts[1] = verdict(0.5, 100);
  samples_.add(&load(1), 1000 * kMs);
  take();
  EXPECT_NEAR(samples_.likely_stall_ns(), 500 * kMs, kMs);
  samples_.add(&load(2), 60 * kMs);
  take();
  EXPECT_NEAR(samples_.likely_stall_ns(), 30 * kMs, kMs);
  take();
  EXPECT_EQ(samples_.likely_stall_ns(), 0);
  told_.verdicts[2] = verdict(1, 100);
  take();
  EXPECT_NEAR(samples_.likely_stall_ns(), 30 * kMs, 3 * kMs);  // the rest of it
}

// Delays cover what sampling takes: where there are none, it had better take little.
TEST_F(WalkedSamplesTest, WhatNeedsNoDelayIsNotLikelyToHaveWaited) {
  WalkedSamples samples(kBaseNs, {}, {.differ = true, .are_none = {true}});
  told_.verdicts[1] = verdict(1, 100);
  told_.verdicts[1].of_tier = {0.75f, 0.25f};
  samples.add(&load(1), 100 * kMs);
  samples.take(told_, pool_, false);
  EXPECT_NEAR(samples.likely_stall_ns(), 25 * kMs, kMs);
}

// Loads that wait for either of two memories, locked instructions and stores for one each.
TEST_F(WalkedSamplesTest, StallIsToldByKindAndByTier) {
  const StallKind kinds[] = {StallKind::kLoad, StallKind::kLocked, StallKind::kStore, StallKind::kPersist};
  const ByTier<float> tiers[] = {{0.75f, 0.25f}, {0, 1}, {1, 0}, {0, 0, 1}};
  for (std::uintptr_t i = 0; i < std::size(kinds); ++i) {
    told_.verdicts[i] = verdict(0.5, i == 0 ? 100 : 200);
    told_.verdicts[i].of_tier = tiers[i];
    samples_.add(&load(i, kinds[i]), static_cast<double>(8 * (i + 1)) * kMs);
  }
  const EpochCounts counts = take();
  EXPECT_DOUBLE_EQ(counts.stall_ns, 40 * kMs);
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const double of_kind_ns = 4 * static_cast<double>(i + 1) * kMs;
    EXPECT_DOUBLE_EQ(counts.kind_stall_ns[kinds[i]], of_kind_ns) << i;
    for (std::size_t tier = 0; tier < kMostTiers; ++tier)
      EXPECT_NEAR(counts.tier_stall_ns[tier][kinds[i]], of_kind_ns * tiers[i][tier], 1) << i << " " << tier;
  }
  EXPECT_DOUBLE_EQ(counts.misses_in_a_row, 4 * kMs / 100 + 36 * kMs / 200);
}

TEST_F(WalkedSamplesTest, SharesOfSeveralLoadsAreWrongIndependently) {
  for (const std::uintptr_t address : {1, 2}) {
    told_.verdicts[address] = verdict(0.5, 100);
    told_.verdicts[address].variance = 0.01;
  }
  samples_.add(&load(1), 30 * kMs);
  samples_.add(&load(2), 40 * kMs);
  EXPECT_NEAR(take().share_error_ns, 5 * kMs, 1);
}

TEST_F(WalkedSamplesTest, BeforeAnythingIsKnownHalfIsMemorys) {
  samples_.add(&load(1), kMs);
  const EpochCounts counts = take(true);
  EXPECT_DOUBLE_EQ(counts.stall_ns, kMs / 2);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), kBaseNs);
  EXPECT_DOUBLE_EQ(counts.share_error_ns, kMs / 2);
}

TEST_F(WalkedSamplesTest, WhereNothingIsWalkedAllThatReadsWaitsForMemory) {
  EveryLoad every_load{kBaseNs};
  samples_.add(&load(1), 3 * kMs);
  samples_.add(&load(2, StallKind::kLocked), 2 * kMs);
  samples_.add(&load(3, StallKind::kStore), 4 * kMs);
  samples_.add(nullptr, 5 * kMs);
  const EpochCounts counts = samples_.take(every_load, pool_, false);
  EXPECT_DOUBLE_EQ(counts.stall_ns, 5 * kMs);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), kBaseNs);
  EXPECT_EQ(counts.share_error_ns, 0);
}

TEST_F(WalkedSamplesTest, MissesThatAWalkHasTakenAreOwed) {
  told_.verdicts[1] = verdict(1, 100);
  samples_.add(&load(1), kMs);
  samples_.add_misses_in_a_row({1000});
  const EpochCounts counts = take();
  EXPECT_NEAR(counts.stall_ns, kMs + 1000 * 100, 1000);
  EXPECT_NEAR(counts.overhead_ns, -1000 * 100, 1000);  // the program was spared them
  EXPECT_NEAR(counts.miss_latency_ns(), 100, 0.1);
}

// A thread that ends before its next sample is due has had one by the chance that it would have had without
// the walk.
TEST_F(WalkedSamplesTest, MissesThatCountWithTheNextSampleAreNotOwedWhereNoneComes) {
  told_.verdicts[1] = verdict(1, 100);
  samples_.add(&load(1), kMs);
  samples_.add_misses_with_next({1000});
  EXPECT_DOUBLE_EQ(take().stall_ns, kMs);
  samples_.add(&load(1), kMs);
  EXPECT_NEAR(take().stall_ns, kMs + 1000 * 100, 1000);
  samples_.add(&load(1), kMs);
  EXPECT_DOUBLE_EQ(take().stall_ns, kMs);
}

// Of each miss of 100 ns a quarter was hidden: each 75 ns of stall are one.
TEST_F(WalkedSamplesTest, WhatIsHiddenOfMissesIsWaitedForWithLongerOnes) {
  told_.verdicts[1] = verdict(1, 100);
  samples_.add(&load(1), 3 * kMs);
  samples_.add_overlap({.plain_ns = 7500, .longer_ns = 10000, .misses = 1});
  const EpochCounts counts = take();
  EXPECT_DOUBLE_EQ(counts.stall_ns, 3 * kMs);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), 75);
}

TEST_F(WalkedSamplesTest, AModelNeverTakesStallsAway) {
  told_.verdicts[1] = verdict(1, 100);
  samples_.add(&load(1), 3 * kMs);
  samples_.add_overlap({.plain_ns = 10000, .longer_ns = 5000, .misses = 1});
  EXPECT_DOUBLE_EQ(take().miss_latency_ns(), 100);
}

// Twelve at a time take 1.2 times what walks have found each of them to take alone.
TEST_F(WalkedSamplesTest, MissesThatAreWaitedForTogetherAreLonger) {
  const WalkOverlap twelve{.plain_ns = 100, .longer_ns = 100, .misses = 12, .in_a_row = 1};
  const auto miss_ns = [&](LoadedLatency loaded, const WalkOverlap& overlap) {
    WalkedSamples samples(kBaseNs, {}, {}, loaded);
    told_.verdicts[1] = verdict(1, 100);
    samples.add(&load(1), 3 * kMs);
    samples.add_overlap(overlap);
    return samples.take(told_, pool_, false).miss_latency_ns();
  };
  EXPECT_DOUBLE_EQ(miss_ns({1.2}, twelve), 120);
  EXPECT_DOUBLE_EQ(miss_ns({}, twelve), 100);
  EXPECT_DOUBLE_EQ(miss_ns({1.2}, {.plain_ns = 100, .longer_ns = 100, .misses = 1, .in_a_row = 1}), 100);
  // One whose half is hidden behind other work is not two.
  EXPECT_DOUBLE_EQ(miss_ns({1.2}, {.plain_ns = 50, .longer_ns = 100, .misses = 1, .in_a_row = 0.5}), 50);
}

// Of four samples three stand for memory, and each has made the thread wait 50 us longer.
TEST_F(WalkedSamplesTest, WhatSamplesDisplaceIsNoStall) {
  constexpr double kDisplacedNs = 50e3;
  told_.verdicts[1] = verdict(0.75, 200);
  const auto take_after = [&](WalkedSamples& samples, double each_ns) {
    for (int i = 0; i < 4; ++i) samples.add(&load(1), each_ns);
    return samples.take(told_, pool_, false, kDisplacedNs);
  };
  const EpochCounts counts = take_after(samples_, kMs);
  EXPECT_DOUBLE_EQ(counts.stall_ns, 3 * kMs - 3 * kDisplacedNs);
  EXPECT_DOUBLE_EQ(counts.kind_stall_ns[StallKind::kLoad], counts.stall_ns);
  EXPECT_DOUBLE_EQ(counts.overhead_ns, 3 * kDisplacedNs);
  EXPECT_DOUBLE_EQ(counts.miss_latency_ns(), 200);
  // Half of what was seen at most.
  EXPECT_DOUBLE_EQ(take_after(samples_, kDisplacedNs).stall_ns, 1.5 * kDisplacedNs);
  Rules rules;
  rules.switch_off(Rule::kDisplaced);
  WalkedSamples without(kBaseNs, rules);
  EXPECT_DOUBLE_EQ(take_after(without, kMs).stall_ns, 3 * kMs);
  EXPECT_DOUBLE_EQ(without.take(told_, pool_, false, kDisplacedNs).overhead_ns, 0);
}

TEST_F(WalkedSamplesTest, WhatDoesNotWaitForMemoryIsNotDisplaced) {
  told_.verdicts[1] = Verdict{.readings = 5, .executions = 1000};
  samples_.add(&load(1), 8 * kMs);
  EXPECT_EQ(samples_.take(told_, pool_, false, 50e3).overhead_ns, 0);
}

TEST_F(WalkedSamplesTest, WhatIsHiddenAndWhatIsLoadedAreRulesOfTheirOwn) {
  const auto miss_ns = [&](Rule off) {
    Rules rules;
    rules.switch_off(off);
    WalkedSamples samples(kBaseNs, rules, {}, {1.2});
    told_.verdicts[1] = verdict(1, 100);
    samples.add(&load(1), 3 * kMs);
    samples.add_overlap({.plain_ns = 50, .longer_ns = 100, .misses = 24, .in_a_row = 1});
    return samples.take(told_, pool_, false).miss_latency_ns();
  };
  EXPECT_DOUBLE_EQ(miss_ns(Rule::kHidden), 120);
  EXPECT_DOUBLE_EQ(miss_ns(Rule::kLoaded), 50);
}

TEST_F(WalkedSamplesTest, WhatIsNotToldOfIsChargedAtOnceWithoutKeepingBack) {
  Rules rules;
  rules.switch_off(Rule::kKeptBack);
  WalkedSamples at_once(kBaseNs, rules);
  for (WalkedSamples* samples : {&samples_, &at_once}) samples->add(&load(1), kMs);
  EXPECT_EQ(samples_.take(told_, pool_, false).stall_ns, 0);
  EXPECT_GT(at_once.take(told_, pool_, false).stall_ns, 0);
}

TEST(LoadedLatency, IsInProportionToHowManyThereAreUpToTwelve) {
  const LoadedLatency loaded{1.11};
  EXPECT_DOUBLE_EQ(loaded.of(1), 1);
  EXPECT_DOUBLE_EQ(loaded.of(2), 1.01);
  EXPECT_DOUBLE_EQ(loaded.of(12), 1.11);
  EXPECT_DOUBLE_EQ(loaded.of(40), 1.11);
  EXPECT_DOUBLE_EQ(LoadedLatency{}.of(12), 1);
  EXPECT_DOUBLE_EQ(LoadedLatency{0.9}.of(12), 0.9);
}

// Two lists side by side, one of them in the far tier: whichever load is found waiting, a step takes as much
// longer as the far one does.
TEST_F(WalkedSamplesTest, OfMissesThatAreWaitedForTogetherItIsNoMatterWhichIsFoundWaiting) {
  constexpr double kSteps = 1e4, kLongerNs = 200;
  for (const std::uintptr_t waiting : {1, 2}) {
    WalkedSamples samples(kBaseNs, {}, {.differ = true});
    for (const std::uintptr_t list : {1, 2}) {
      told_.verdicts[list] = verdict(1, 100);
      told_.verdicts[list].of_tier = {};
      told_.verdicts[list].of_tier[list - 1] = 1;
    }
    samples.add(&load(waiting), kSteps * 100);
    samples.add_overlap(
        {.plain_ns = kLongerNs / 2, .longer_ns = kLongerNs, .misses = 2, .in_a_row = 1, .of_tier = {1, 1}});
    const EpochCounts counts = samples.take(told_, pool_, false);
    const double misses = counts.stall_ns / counts.miss_latency_ns();
    EXPECT_NEAR(misses * counts.of_tier[1] * kLongerNs, kSteps * kLongerNs, 1) << waiting;
  }
}

TEST_F(WalkedSamplesTest, WithoutThatRuleTheOneThatIsFoundWaitingCounts) {
  Rules rules;
  rules.switch_off(Rule::kTogether);
  WalkedSamples samples(kBaseNs, rules, {.differ = true});
  told_.verdicts[1] = verdict(1, 100);
  samples.add(&load(1), kMs);
  samples.add_overlap({.plain_ns = 100, .longer_ns = 200, .misses = 2, .in_a_row = 1, .of_tier = {1, 1}});
  EXPECT_EQ(samples.take(told_, pool_, false).of_tier[0], 1);
}

TEST_F(WalkedSamplesTest, OfMissesThatWaitForOneAnotherTheOneThatIsFoundWaitingCounts) {
  WalkedSamples samples(kBaseNs, {}, {.differ = true});
  told_.verdicts[1] = verdict(1, 100);
  samples.add(&load(1), kMs);
  samples.add_overlap({.plain_ns = 100, .longer_ns = 100, .misses = 2, .in_a_row = 2, .of_tier = {1, 1}});
  EXPECT_EQ(samples.take(told_, pool_, false).of_tier[0], 1);
}

}  // namespace
}  // namespace nvmemu
