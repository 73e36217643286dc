// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/period_choice.h"

#include <gtest/gtest.h>

#include "counters/sampler/calibration/sampling_cost.h"

namespace nvmemu {
namespace {

EpochCounts epoch(std::uint64_t samples, double stall_ns = 0, double bytes = 0, std::uint64_t streaming = 0,
                  std::uint64_t pairs = 0) {
  EpochCounts counts;
  counts.samples = static_cast<double>(samples);
  counts.stall_ns = stall_ns;
  counts.traffic = {.read_bytes = bytes, .samples = samples, .streaming_samples = streaming, .pairs = pairs};
  return counts;
}

bool judge(PeriodChoice& choice, const EpochCounts& counts) { return choice.judge(counts, counts.stall_ns); }

// On a machine of such samples.
PeriodOptions for_stalls(double sample_ns, double stall_sample_ns) {
  return {.fine_ns = 1e6,
          .usual_ns = 1e6,
          .coarse_ns = 16e6,
          .sample_ns = sample_ns,
          .stall_sample_ns = stall_sample_ns};
}

// After a second of it.
double period_ns(PeriodOptions options, double waits) {
  PeriodChoice choice(options);
  for (int i = 0; i < 10; ++i) judge(choice, epoch(100, waits * 100 * choice.period_ns()));
  return choice.period_ns();
}
constexpr PeriodOptions kForTraffic{.fine_ns = 1e6,
                                    .usual_ns = 1e6,
                                    .coarse_ns = 10e6,
                                    .charges_stalls = false,
                                    .measures_traffic = true,
                                    .traffic_bps = 1e9};

TEST(PeriodChoice, IsCoarseForWhoHardlyWaits) {
  PeriodChoice choice(for_stalls(20e3, 30e3));
  EXPECT_EQ(choice.period_ns(), 1e6);
  EXPECT_FALSE(judge(choice, epoch(40))) << "too early to tell";
  EXPECT_TRUE(judge(choice, epoch(60)));
  EXPECT_EQ(choice.period_ns(), 4e6);
  EXPECT_TRUE(judge(choice, epoch(20, 10e6)));
  EXPECT_EQ(choice.period_ns(), 1e6);
}

// Short programs are over before it is known what they wait for.
TEST(PeriodChoice, StaysFineUntilSamplesHaveTakenWhatTheyMayAtFirst) {
  PeriodOptions options = for_stalls(20e3, 20e3);
  options.at_first_ns = 10e6;
  PeriodChoice choice(options);
  double passed_ns = 0;
  while (!judge(choice, epoch(100))) passed_ns += 100e6;
  EXPECT_NEAR(passed_ns, 10e6 / (0.02 - 0.005), 101e6);
  EXPECT_EQ(choice.period_ns(), 4e6);
}

TEST(PeriodChoice, WhereSamplesAreCheapAllAreFine) {
  for (const double waits : {0.0, 0.01, 0.5, 1.0}) EXPECT_EQ(period_ns(for_stalls(2e3, 4e3), waits), 1e6);
}

TEST(PeriodChoice, WhatDelaysDoNotCoverIsLittleWhateverASampleTakes) {
  constexpr double kUncovered = 0.005;
  for (const double sample_ns : {0.5e3, 2e3, 14e3, 27e3, 60e3}) {
    for (const double waits : {0.0, 0.002, 0.01, 0.05, 0.2, 1.0}) {
      const double cost_ns = sample_ns * (1 + waits);
      EXPECT_LE(cost_ns / period_ns(for_stalls(sample_ns, 2 * sample_ns), waits), waits + kUncovered + 1e-9)
          << sample_ns << " " << waits;
    }
  }
}

TEST(PeriodChoice, IsFineAtFirstAndThenAsOftenAsUsual) {
  PeriodChoice choice(
      {.fine_ns = 1e6, .usual_ns = 4e6, .coarse_ns = 16e6, .delay_factor = 0.25, .sample_ns = 30e3});
  EXPECT_EQ(choice.period_ns(), 1e6);
  EXPECT_TRUE(judge(choice, epoch(60, 60e6)));
  EXPECT_EQ(choice.period_ns(), 4e6);
  EXPECT_FALSE(judge(choice, epoch(25, 100e6)));
  EXPECT_TRUE(judge(choice, epoch(25)));
  EXPECT_EQ(choice.period_ns(), 8e6);
  EXPECT_TRUE(judge(choice, epoch(20, 40e6)));
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
  EXPECT_FALSE(judge(choice, epoch(100, 0, 0.2e9, 100, 100)));
  EXPECT_TRUE(judge(choice, epoch(100, 0, 0.05e9, 100, 100)));
  EXPECT_EQ(choice.period_ns(), 10e6);
  EXPECT_TRUE(judge(choice, epoch(10, 0, 0.2e9, 10, 10)));
  EXPECT_EQ(choice.period_ns(), 1e6);
}

TEST(PeriodChoice, AWaitThatIsNotChargedIsNotWorthIt) {
  PeriodChoice choice(kForTraffic);
  EXPECT_TRUE(judge(choice, epoch(100, 90e6)));
  EXPECT_EQ(choice.period_ns(), 10e6);
  EXPECT_FALSE(judge(choice, epoch(100, 900e6)));
}

TEST(PeriodChoice, LooksFinelyAtWhatItCannotFollowButEverMoreSeldom) {
  PeriodChoice choice(kForTraffic);
  int changes = 0;
  for (int i = 0; i < 1000; ++i) {  // each epoch of 100 ms
    const auto samples = static_cast<std::uint64_t>(100e6 / choice.period_ns());
    if (judge(choice, epoch(samples, 0, 0, samples, 0))) ++changes;
  }
  EXPECT_GE(changes, 20);  // and back
  EXPECT_LE(changes, 70);
}

TEST(PeriodChoice, WhatDoesNotStreamIsNotLookedAtAgain) {
  PeriodChoice choice(kForTraffic);
  EXPECT_TRUE(judge(choice, epoch(100)));
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(judge(choice, epoch(10)));
}

}  // namespace
}  // namespace nvmemu
