// SPDX-License-Identifier: Apache-2.0
#include "model/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nvmemu {
namespace {

using testing::HasSubstr;

constexpr ReadLatency kTwice{.base_ns = 100, .target_ns = 200};

RecordedEpoch epoch(std::uint32_t thread, double begin_ns, double end_ns, double stall_ns) {
  RecordedEpoch epoch{{0, thread, 0}, begin_ns, end_ns, {}};
  epoch.counts.cpu_ns = end_ns - begin_ns;
  epoch.counts.stall_ns = stall_ns;
  epoch.counts.samples = 100;
  epoch.counts.stall_samples = 50;
  epoch.counts.probes = 16;
  return epoch;
}

Record record(std::vector<RecordedEpoch> epochs, double wall_ns) {
  Record made;
  made.info.counts = kSamplerCounts;
  made.info.base_ns = 100;
  made.wall_ns = wall_ns;
  made.epochs = std::move(epochs);
  return made;
}

TEST(Predict, AddsWhatTheModelSaysToTheTimeThatItTook) {
  const Record made = record({epoch(0, 0, 100e6, 60e6), epoch(0, 100e6, 200e6, 40e6)}, 250e6);
  const Prediction found = predict(made, stall_delay_ns, kTwice);
  EXPECT_DOUBLE_EQ(found.native_ns, 250e6);
  EXPECT_NEAR(found.delay.expected_ns, 100e6, 1);
  EXPECT_NEAR(found.wall_ns(), 350e6, 1);
  EXPECT_NEAR(found.slowdown(), 1.4, 1e-9);
}

TEST(Predict, LeavesOutWhatMeasuringCost) {
  Record made = record({epoch(0, 0, 100e6, 60e6)}, 100e6);
  made.epochs[0].counts.overhead_ns = 4e6;
  EXPECT_NEAR(predict(made, stall_delay_ns, kTwice).native_ns, 96e6, 1);
}

TEST(Predict, TakesTheLongestOfThreadsSideBySide) {
  const Record made = record({epoch(0, 0, 100e6, 60e6), epoch(1, 0, 100e6, 20e6)}, 100e6);
  const Prediction found = predict(made, stall_delay_ns, kTwice);
  EXPECT_NEAR(found.delay.expected_ns, 60e6, 1);
  EXPECT_NEAR(found.delay.most_ns, 80e6, 1);
}

TEST(Predict, AtTheBasePredictsTheNativeTime) {
  const Record made = record({epoch(0, 0, 100e6, 60e6)}, 100e6);
  EXPECT_DOUBLE_EQ(predict(made, stall_delay_ns, {.base_ns = 100, .target_ns = 100}).wall_ns(), 100e6);
}

TEST(PredictionError, AddsVariancesAsTheRunReportDoes) {
  Record made = record({epoch(0, 0, 1, 1e6), epoch(0, 1, 2, 1e6), epoch(1, 0, 1, 2e6)}, 1);
  for (RecordedEpoch& each : made.epochs) {
    each.counts.sampling_variance_ns2 = 1e8;
    each.counts.share_error_ns = 3e4;
  }
  made.info.base_spread = 0.08;
  // 3e8 of samples; (6e4)^2 and (3e4)^2 of shares; of 4e6 ns of stall.
  const double statistical = 1.96 * std::sqrt(3e8 + 36e8 + 9e8) / 4e6;
  const PredictionError found = prediction_error(made);
  ASSERT_TRUE(found.relative_95);
  EXPECT_NEAR(*found.relative_95, std::hypot(statistical, 0.04), 1e-9);
  EXPECT_EQ(found.from, "150 samples of loads, 48 timed loads, base latency spread 8.0 %");
}

TEST(PredictionError, IsNotKnownWhereNothingWasMeasured) {
  Record made = record({epoch(0, 0, 1, 0)}, 1);
  EXPECT_FALSE(prediction_error(made).relative_95);
  EXPECT_THAT(prediction_error(made).from, HasSubstr("hardly any wait for memory"));
  made.epochs[0].counts.stall_samples = 0;
  EXPECT_EQ(prediction_error(made).from, "nothing was measured");
  EXPECT_FALSE(prediction_error(record({}, 1)).relative_95);
}

TEST(PredictionError, IsNeverZeroAndNeverOfFewSamples) {
  Record made = record({epoch(0, 0, 1, 1e6)}, 1);
  ASSERT_TRUE(prediction_error(made).relative_95);
  EXPECT_GT(*prediction_error(made).relative_95, 0.001) << "with neither variance nor spread";
  made.epochs[0].counts.stall_samples = 1;
  EXPECT_FALSE(prediction_error(made).relative_95);
  EXPECT_EQ(prediction_error(made).from, "1 samples of loads are too few to tell");
  made.info.counts = kAllCounts;
  ASSERT_TRUE(prediction_error(made).relative_95) << "counted";
  EXPECT_GT(*prediction_error(made).relative_95, 0.001);
}

TEST(PredictionError, OfCountsIsTheBases) {
  Record made = record({epoch(0, 0, 1, 1)}, 1);
  made.info.counts = kAllCounts;
  made.info.base_spread = 0.08;
  EXPECT_EQ(prediction_error(made).relative_95, 0.04);
}

}  // namespace
}  // namespace nvmemu
