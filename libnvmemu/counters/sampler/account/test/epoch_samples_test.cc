// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/account/epoch_samples.h"

#include <gtest/gtest.h>

#include <memory>

namespace nvmemu {
namespace {

// A burst's readings, all from memory, of `ns` each.
ProbeSums misses(double ns) {
  return {.readings = 16, .from_memory = 16, .memory_ns = 16 * ns, .total_ns = 16 * ns};
}

constexpr std::size_t kSteady = GapWeights::kBins - 1;
constexpr double kSampleNs = 1e6;

class EpochSamplesTest : public testing::Test {
 protected:
  LoadEntry& entry(StallKind kind, double share) {
    auto& made = *entries_.emplace_back(std::make_unique<LoadEntry>());
    made.instruction.kind = kind;
    made.add({.readings = 100000, .from_memory = 50000, .memory_ns = 1e6 * share, .total_ns = 1e6});
    return made;
  }
  void add(const LoadEntry* load, int times, std::size_t bin = kSteady) {
    for (int i = 0; i < times; ++i) samples_.add(load, kSampleNs, bin);
  }
  EpochCounts take(bool every_load = false, bool settle = false) {
    return samples_.take(pool_, gaps_, every_load, settle);
  }

  std::vector<std::unique_ptr<LoadEntry>> entries_;
  SharePool pool_;
  GapWeights gaps_;
  EpochSamples samples_;
};

TEST_F(EpochSamplesTest, ChargesEachLoadByItsOwnShare) {
  add(&entry(StallKind::kLoad, 1.0), 60);
  add(&entry(StallKind::kLoad, 0.0), 30);
  add(&entry(StallKind::kLocked, 0.5), 10);
  const EpochCounts counts = take();
  EXPECT_NEAR(counts.memory_stall_ns, 65 * kSampleNs, 0.01 * kSampleNs);
  EXPECT_EQ(counts.samples, 100u);
  EXPECT_EQ(counts.stall_samples, 100u);
  EXPECT_DOUBLE_EQ(counts.held(StallKind::kLoad), 90 * kSampleNs);
}

TEST_F(EpochSamplesTest, MissesThatOverlapTakeLonger) {
  samples_ = EpochSamples({.reading = 1.25, .latency = 1.1});
  LoadEntry& first = entry(StallKind::kLoad, 1.0);
  LoadEntry& second = entry(StallKind::kLoad, 1.0);
  LoadEntry& hits = entry(StallKind::kLoad, 0.0);
  first.address = 0x1000;
  second.address = 0x1008;
  hits.address = 0x1010;
  first.beside = {{0x1008, 0x1010}, 2};
  second.beside = {{0x1000}, 1};
  hits.beside = {{0x1000}, 1};
  const double alone_ns = gaps_.steady_ns();
  add(&first, 50);
  add(&hits, 50);
  EXPECT_NEAR(take().miss_latency_ns, alone_ns, 0.01 * alone_ns) << "the other load hits a cache";
  add(&first, 50);
  add(&second, 2);
  EXPECT_LT(take().miss_latency_ns, 1.01 * alone_ns) << "the other load hardly waits";
  add(&first, 50);
  add(&second, 50);
  const EpochCounts counts = take();
  EXPECT_NEAR(counts.miss_latency_ns, 1.25 * alone_ns, 0.01 * alone_ns);
  EXPECT_NEAR(counts.overlap_factor, 1.1, 0.01);
}

class DriftTest : public EpochSamplesTest {
 protected:
  // One load whose steps take that long.
  LoadEntry& list(double step_ns, bool in_huge_pages = true) {
    LoadEntry& made = entry(StallKind::kLoad, 1.0);
    for (int i = 0; i < 32; ++i) made.steps.add(step_ns, in_huge_pages);
    return made;
  }
  double drift_of(LoadEntry& load) {
    add(&load, 50);
    return take().base_drift;
  }
  const double usual_ns_ = gaps_.steady_ns();
};

TEST_F(DriftTest, IsWhatStepsInHugePagesTakeOverTheBase) {
  samples_ = EpochSamples({}, 0.8 * usual_ns_);
  EXPECT_NEAR(drift_of(list(usual_ns_)), 1.25, 1e-5);
  EXPECT_NEAR(drift_of(list(0.72 * usual_ns_)), 0.9, 1e-5);
  EXPECT_EQ(drift_of(list(usual_ns_, false)), 1) << "what translations take is the program's own";
  EXPECT_EQ(drift_of(entry(StallKind::kLoad, 1.0)), 1) << "no list";
}

TEST_F(DriftTest, IsOfEachMissItsOwn) {
  samples_ = EpochSamples({}, 0.8 * usual_ns_);
  add(&list(usual_ns_), 50);
  add(&entry(StallKind::kLoad, 1.0), 150);
  const EpochCounts counts = take();
  EXPECT_NEAR(counts.base_drift, 1.0625, 0.001);
  EXPECT_NEAR(counts.overlap_factor, 1, 1e-9);
}

TEST_F(DriftTest, HasBounds) {
  samples_ = EpochSamples({}, 0.3 * usual_ns_);
  EXPECT_EQ(drift_of(list(usual_ns_)), 2);
  samples_ = EpochSamples({}, 3 * usual_ns_);
  EXPECT_EQ(drift_of(list(usual_ns_)), 0.7);
}

TEST_F(DriftTest, IsNotFollowedUnlessAskedTo) { EXPECT_EQ(drift_of(list(1.3 * usual_ns_)), 1); }

TEST_F(EpochSamplesTest, NothingButReadsWaitsForReads) {
  add(&entry(StallKind::kStore, 1.0), 10);
  add(&entry(StallKind::kPersist, 1.0), 10);
  add(&entry(StallKind::kOther, 1.0), 10);
  add(nullptr, 10);
  const EpochCounts counts = take();
  EXPECT_DOUBLE_EQ(counts.memory_stall_ns, 0);
  EXPECT_EQ(counts.stall_samples, 0u);
  EXPECT_DOUBLE_EQ(counts.held(StallKind::kOther), 20 * kSampleNs);
}

TEST_F(EpochSamplesTest, WithoutProbesEveryLoadCounts) {
  add(&entry(StallKind::kLoad, 0.0), 10);
  EXPECT_DOUBLE_EQ(take(true).memory_stall_ns, 10 * kSampleNs);
}

TEST_F(EpochSamplesTest, LoadsBeyondThoseToldApartGetThePoolsShare) {
  pool_ = {.bursts = 1e6, .share_sum = 0.25e6, .square_sum = 0.0625e6};
  for (int i = 0; i < 100; ++i) add(&entry(StallKind::kLoad, 1.0), 1);
  EXPECT_NEAR(take().memory_stall_ns, (48 + 52 * 0.25) * kSampleNs, 0.01 * kSampleNs);
}

TEST_F(EpochSamplesTest, EachEpochStartsAtNothing) {
  add(&entry(StallKind::kLoad, 1.0), 10);
  take();
  const EpochCounts counts = take();
  EXPECT_DOUBLE_EQ(counts.memory_stall_ns, 0);
  EXPECT_EQ(counts.samples, 0u);
}

TEST_F(EpochSamplesTest, EachLoadsMissesTakeWhatProbesOfItSay) {
  gaps_.expect(200);
  LoadEntry& near = entry(StallKind::kLoad, 1.0);
  LoadEntry& far = entry(StallKind::kLoad, 1.0);
  for (int i = 0; i < 1000; ++i) {
    near.add_natural(misses(150));
    far.add_natural(misses(300));
  }
  add(&near, 30);
  EXPECT_NEAR(take().miss_latency_ns, 150, 3);
  add(&far, 30);
  EXPECT_NEAR(take().miss_latency_ns, 300, 6);
  add(&near, 15);
  add(&far, 30);  // as many misses as of the other
  EXPECT_NEAR(take().miss_latency_ns, 225, 5);
  EXPECT_DOUBLE_EQ(take().miss_latency_ns, 200);  // nothing waited: what is usual
}

TEST_F(EpochSamplesTest, StepsOfAListTellMoreThanProbes) {
  gaps_.expect(200);
  LoadEntry& link = entry(StallKind::kLoad, 1.0);
  for (int i = 0; i < 1000; ++i) link.add_natural(misses(200));
  for (int i = 0; i < 32; ++i) link.steps.add(230, false);
  add(&link, 30);
  EXPECT_NEAR(take().miss_latency_ns, 230, 0.5);
  for (int i = 0; i < 32; ++i) link.steps.add(60, false);  // it came round within a walk
  add(&link, 30);
  EXPECT_NEAR(take().miss_latency_ns, 200, 2);
}

class UnprobedLoad : public EpochSamplesTest {
 protected:
  UnprobedLoad() {
    load_.instruction.kind = StallKind::kLoad;
    load_.instruction.probeable = true;
    pool_ = {.bursts = 1e6, .share_sum = 0.25e6, .square_sum = 0.0625e6};
  }
  LoadEntry load_;
};

TEST_F(UnprobedLoad, IsChargedWhenProbesHaveToldOfIt) {
  add(&load_, 10);
  EXPECT_DOUBLE_EQ(take().memory_stall_ns, 0);
  add(&load_, 10);
  load_.add(misses(200));
  EXPECT_NEAR(take().memory_stall_ns, 20 * kSampleNs, 1 * kSampleNs);
}

TEST_F(UnprobedLoad, IsChargedAsOthersWhereProbesDoNotCome) {
  add(&load_, 199);
  EXPECT_DOUBLE_EQ(take().memory_stall_ns, 0);
  add(&load_, 1);
  EXPECT_NEAR(take().memory_stall_ns, 50 * kSampleNs, 0.01 * kSampleNs);
}

TEST_F(UnprobedLoad, IsChargedInTheLastEpoch) {
  add(&load_, 10);
  EXPECT_NEAR(take(false, true).memory_stall_ns, 2.5 * kSampleNs, 0.01 * kSampleNs);
}

TEST_F(UnprobedLoad, IsChargedAtOnceWhereEveryLoadCounts) {
  add(&load_, 10);
  EXPECT_DOUBLE_EQ(take(true).memory_stall_ns, 10 * kSampleNs);
}

TEST_F(EpochSamplesTest, SlownessAfterAGapIsOverheadNotStall) {
  for (int i = 0; i < 100000; ++i) {
    gaps_.add(0, misses(400), {.share = 1, .miss_ns = 200});
    gaps_.add(64, misses(200), {.share = 1, .miss_ns = 200});
  }
  add(&entry(StallKind::kLoad, 1.0), 10, 0);
  const EpochCounts counts = take();
  EXPECT_NEAR(counts.memory_stall_ns, 5 * kSampleNs, 0.01 * kSampleNs);
  EXPECT_NEAR(counts.overhead_ns, 5 * kSampleNs, 0.01 * kSampleNs);
}

TEST_F(EpochSamplesTest, WhatWasChargedTooMuchBeforeTheWeightsWereKnownComesOffLater) {
  LoadEntry& load = entry(StallKind::kLoad, 1.0);
  add(&load, 10, 0);
  EXPECT_NEAR(take().memory_stall_ns, 10 * kSampleNs, 0.01 * kSampleNs);
  for (int i = 0; i < 100000; ++i) {
    gaps_.add(0, misses(400), {.share = 1, .miss_ns = 200});
    gaps_.add(64, misses(200), {.share = 1, .miss_ns = 200});
  }
  add(&load, 4, kSteady);
  EXPECT_NEAR(take().memory_stall_ns, 0, 0.01 * kSampleNs);  // 5 + 4 in all, and 10 given
  add(&load, 6, kSteady);
  EXPECT_NEAR(take().memory_stall_ns, 5 * kSampleNs, 0.01 * kSampleNs);  // 15 in all
}

TEST_F(EpochSamplesTest, AProgramThatAlwaysWaitsHasNoSamplingError) {
  add(&entry(StallKind::kLoad, 1.0), 100);
  EXPECT_NEAR(take().sampling_variance_ns2, 0, 1e-3 * kSampleNs * kSampleNs * 100);
  LoadEntry& half = entry(StallKind::kLoad, 1.0);
  add(&half, 50);
  add(nullptr, 50);
  EXPECT_NEAR(take().sampling_variance_ns2, 25 * kSampleNs * kSampleNs, 0.1 * kSampleNs * kSampleNs);
}

}  // namespace
}  // namespace nvmemu
