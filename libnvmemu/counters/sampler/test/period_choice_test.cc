// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/period_choice.h"

#include <gtest/gtest.h>

#include "counters/sampler/sampling_cost.h"

namespace nvmemu {
namespace {

EpochCounts epoch(std::uint64_t samples, double stall_ns = 0, double bytes = 0, std::uint64_t streaming = 0,
                  std::uint64_t pairs = 0) {
  EpochCounts counts;
  counts.samples = samples;
  counts.fresh_stall_ns = stall_ns;
  counts.traffic = {.read_bytes = bytes, .samples = samples, .streaming_samples = streaming, .pairs = pairs};
  return counts;
}

constexpr PeriodOptions kForStalls{.fine_ns = 1e6, .usual_ns = 1e6, .coarse_ns = 5e6};
constexpr PeriodOptions kForTraffic{.fine_ns = 1e6,
                                    .usual_ns = 1e6,
                                    .coarse_ns = 10e6,
                                    .charges_stalls = false,
                                    .measures_traffic = true,
                                    .traffic_bps = 1e9};

TEST(PeriodChoice, IsCoarseForWhoHardlyWaits) {
  PeriodChoice choice(kForStalls);
  EXPECT_EQ(choice.period_ns(), 1e6);
  EXPECT_FALSE(choice.judge(epoch(40))) << "too early to tell";
  EXPECT_TRUE(choice.judge(epoch(60)));
  EXPECT_EQ(choice.period_ns(), 5e6);
  EXPECT_TRUE(choice.judge(epoch(20, 10e6)));
  EXPECT_EQ(choice.period_ns(), 1e6);
}

TEST(PeriodChoice, IsFineAtFirstAndThenAsOftenAsUsual) {
  PeriodChoice choice({.fine_ns = 1e6, .usual_ns = 4e6, .coarse_ns = 5e6});
  EXPECT_EQ(choice.period_ns(), 1e6);
  EXPECT_TRUE(choice.judge(epoch(60, 60e6)));
  EXPECT_EQ(choice.period_ns(), 4e6);
  EXPECT_FALSE(choice.judge(epoch(25, 100e6)));
  EXPECT_TRUE(choice.judge(epoch(25)));
  EXPECT_EQ(choice.period_ns(), 5e6);
  EXPECT_TRUE(choice.judge(epoch(20, 10e6)));
  EXPECT_EQ(choice.period_ns(), 4e6);
}

TEST(SamplingEffort, IsInProportionToWhatIsAdded) {
  EXPECT_DOUBLE_EQ(sampling_effort(200, 300), 0.5);
  EXPECT_DOUBLE_EQ(sampling_effort(200, 400), 1);
  EXPECT_DOUBLE_EQ(sampling_effort(200, 2000), 1);
}

TEST(SamplingEffort, IsNeverLessThanAQuarter) {
  EXPECT_DOUBLE_EQ(sampling_effort(200, 250), 0.25);
  EXPECT_DOUBLE_EQ(sampling_effort(200, 201), 0.25);
  EXPECT_DOUBLE_EQ(sampling_effort(200, 100), 0.25);
}

TEST(PeriodChoice, IsFineForWhoMovesMuch) {
  PeriodChoice choice(kForTraffic);
  EXPECT_FALSE(choice.judge(epoch(100, 0, 0.2e9, 100, 100)));
  EXPECT_TRUE(choice.judge(epoch(100, 0, 0.05e9, 100, 100)));
  EXPECT_EQ(choice.period_ns(), 10e6);
  EXPECT_TRUE(choice.judge(epoch(10, 0, 0.2e9, 10, 10)));
  EXPECT_EQ(choice.period_ns(), 1e6);
}

TEST(PeriodChoice, AWaitThatIsNotChargedIsNotWorthIt) {
  PeriodChoice choice(kForTraffic);
  EXPECT_TRUE(choice.judge(epoch(100, 90e6)));
  EXPECT_EQ(choice.period_ns(), 10e6);
  EXPECT_FALSE(choice.judge(epoch(100, 900e6)));
}

TEST(PeriodChoice, LooksFinelyAtWhatItCannotFollowButEverMoreSeldom) {
  PeriodChoice choice(kForTraffic);
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {  // each epoch of 100 ms
    const auto samples = static_cast<std::uint64_t>(100e6 / choice.period_ns());
    if (choice.judge(epoch(samples, 0, 0, samples, 0))) ++changes;
  }
  EXPECT_GE(changes, 20);  // and back
  EXPECT_LE(changes, 70);
}

TEST(PeriodChoice, WhatDoesNotStreamIsNotLookedAtAgain) {
  PeriodChoice choice(kForTraffic);
  EXPECT_TRUE(choice.judge(epoch(100)));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(choice.judge(epoch(10)));
}

}  // namespace
}  // namespace nvmemu
