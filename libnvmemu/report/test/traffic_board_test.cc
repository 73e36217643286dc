// SPDX-License-Identifier: Apache-2.0
#include "report/traffic_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kStart = 5'000'000'000, kMs = 1'000'000, kSecond = 1000 * kMs;

class TrafficSeriesTest : public testing::Test {
 protected:
  void add(std::uint64_t begin_ns, std::uint64_t end_ns, double read_bytes, double written_bytes = 0) {
    series_->add({kStart + begin_ns, kStart + end_ns, read_bytes, written_bytes, 0}, kStart);
  }
  std::unique_ptr<TrafficSeries> series_ = std::make_unique<TrafficSeries>();
};

TEST_F(TrafficSeriesTest, IsEmptyAtFirst) { EXPECT_TRUE(series_->read().steps.empty()); }

TEST_F(TrafficSeriesTest, SpreadsAStretchOverItsSteps) {
  add(50 * kMs, 250 * kMs, 2000, 200);
  const auto over_time = series_->read();
  EXPECT_EQ(over_time.step_seconds, 0.1);
  ASSERT_EQ(over_time.steps.size(), 3u);
  EXPECT_NEAR(over_time.steps[0].read_bytes, 500, 1);
  EXPECT_NEAR(over_time.steps[1].read_bytes, 1000, 1);
  EXPECT_NEAR(over_time.steps[2].read_bytes, 500, 1);
  EXPECT_NEAR(over_time.steps[1].written_bytes, 100, 1);
}

TEST_F(TrafficSeriesTest, AddsUpWhatThreadsMove) {
  add(0, 100 * kMs, 1000);
  add(0, 100 * kMs, 500);
  EXPECT_EQ(series_->read().steps[0].read_bytes, 1500);
}

TEST_F(TrafficSeriesTest, AMomentIsInOneStep) {
  add(150 * kMs, 150 * kMs, 1000);
  EXPECT_EQ(series_->read().steps[1].read_bytes, 1000);
}

TEST_F(TrafficSeriesTest, IsCoarserTheLongerTheRun) {
  for (const auto& [at_seconds, step_seconds] :
       {std::pair{101, 0.1}, {150, 1.0}, {5000, 10.0}, {50'000, 100.0}}) {
    add(at_seconds * kSecond, at_seconds * kSecond + 50 * kMs, 1000);
    const auto over_time = series_->read();
    EXPECT_EQ(over_time.step_seconds, step_seconds);
    ASSERT_EQ(over_time.steps.size(), static_cast<std::size_t>(at_seconds / step_seconds) + 1);
    EXPECT_GE(over_time.steps.back().read_bytes, 1000);
  }
}

TEST_F(TrafficSeriesTest, WhatIsBeyondItsReachIsLeftOut) {
  add(std::uint64_t{1'000'000} * kSecond, std::uint64_t{1'000'001} * kSecond, 1000);
  EXPECT_TRUE(series_->read().steps.empty());
}

class ReadTraffic : public testing::Test {
 protected:
  ReadTraffic() : board_(Board::create()) {}
  void SetUp() override { ASSERT_TRUE(board_) << board_.error().message; }
  void TearDown() override { board_->remove_file(); }
  void move(std::uint64_t step, double read_bytes) {
    TrafficBoard& traffic = board_->traffic();
    traffic.series.add(
        {traffic.start_ns + step * 100 * kMs, traffic.start_ns + (step + 1) * 100 * kMs, read_bytes, 0, 0},
        traffic.start_ns);
    traffic.read_bytes += static_cast<std::uint64_t>(read_bytes);
  }
  RunReport read() {
    read_traffic(*board_, report_);
    return report_;
  }
  Result<Board> board_;
  RunReport report_;
};

TEST_F(ReadTraffic, ReachedIsTheMedianOfTheBusySteps) {
  for (std::uint64_t step = 0; step < 20; ++step)
    move(step, step < 10 ? 1e6 : 100e6 + static_cast<double>(step) * 1e6);
  EXPECT_NEAR(*read().bandwidth.read_reached_bps, 1.14e9, 1e7);
}

TEST_F(ReadTraffic, StepsOfHalfTheTargetAreBusy) {
  report_.target.read_bandwidth_bps = 0.1e9;
  for (std::uint64_t step = 0; step < 20; ++step) move(step, step == 7 ? 100e6 : 10e6);
  EXPECT_NEAR(*read().bandwidth.read_reached_bps, 0.1e9, 1e6);
}

TEST_F(ReadTraffic, NothingMovedReachesNothing) {
  EXPECT_FALSE(read().bandwidth.read_reached_bps);
  EXPECT_EQ(report_.bandwidth.error_from, "nothing was measured");
}

TEST_F(ReadTraffic, AnErrorGrowsWithWhatWasExtrapolated) {
  TrafficBoard& traffic = board_->traffic();
  traffic.samples = 100;
  traffic.streaming_samples = 90;
  traffic.pairs = 80;
  traffic.read_bytes = 1000;
  const double exact = *read().bandwidth.error_relative_95;
  traffic.extrapolated_bytes = 500;
  EXPECT_GT(*read().bandwidth.error_relative_95, exact + 0.1);
  EXPECT_THAT(report_.bandwidth.error_from, HasSubstr("50 % of the bytes"));
}

TEST_F(ReadTraffic, FewSamplesHaveNoError) {
  TrafficBoard& traffic = board_->traffic();
  traffic.samples = 100;
  traffic.streaming_samples = 1;
  traffic.read_bytes = 1000;
  EXPECT_FALSE(read().bandwidth.error_relative_95);
  EXPECT_EQ(report_.bandwidth.error_from, "1 samples in loops that stream are too few to tell");
}

TEST_F(ReadTraffic, OfCountersItSaysWhichAndWhatTheySaw) {
  report_.bandwidth.counted_by = "Ice Lake-SP's A and B. Reads are lines.";
  report_.counted_share = 0.97;
  move(0, 1e6);
  EXPECT_FALSE(read().bandwidth.error_relative_95) << "nobody has measured it";
  EXPECT_THAT(report_.bandwidth.error_from,
              AllOf(HasSubstr("saw 97 % of the CPU time: Ice Lake-SP's A and B. Reads are lines. How far"),
                    Not(HasSubstr("samples"))));
  board_->traffic().samples = 12;
  EXPECT_THAT(read().bandwidth.error_from, HasSubstr("refused the counters: 12 samples"));
  report_.counted_share = 0;
  EXPECT_EQ(read().bandwidth.error_from, "nothing was measured");
}

TEST_F(ReadTraffic, LoopsThatStreamThroughNothingMakeNoError) {
  TrafficBoard& traffic = board_->traffic();
  traffic.samples = 100;
  EXPECT_FALSE(read().bandwidth.error_relative_95);
  EXPECT_THAT(report_.bandwidth.error_from, HasSubstr("found no loop that streams"));
}

}  // namespace
}  // namespace nvmemu
