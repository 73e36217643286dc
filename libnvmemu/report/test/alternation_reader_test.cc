// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/report_reader.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kWindow = 500'000'000;

class ReadAlternation : public testing::Test {
 protected:
  ReadAlternation() : board_(Board::create()) {}
  void SetUp() override {
    ASSERT_TRUE(board_) << board_.error().message;
    now_ = board_->traffic().start_ns + 1'000'000'000;
    board_->alternation().at(now_, kWindow);
  }
  void TearDown() override { board_->remove_file(); }
  void window(std::uint64_t done, std::uint64_t lasted = kWindow) {
    board_->alternation().add_progress(done);
    board_->alternation().at(now_ += lasted, kWindow);
  }
  RunReport read() {
    RunReport report;
    report.alternation.window_seconds = 0.5;
    report.processes.push_back({});
    read_alternation(*board_, report);
    return report;
  }
  Result<Board> board_;
  std::uint64_t now_ = 0;
};

TEST_F(ReadAlternation, WindowsHaveTheirTimesAndWhatWasDone) {
  window(1000);
  window(300, 2 * kWindow);
  const auto windows = read().alternation.windows;
  ASSERT_EQ(windows.size(), 2u);  // the one that runs is not whole
  EXPECT_FALSE(windows[0].delays);
  EXPECT_DOUBLE_EQ(windows[0].begin_seconds, 1);
  EXPECT_DOUBLE_EQ(windows[0].seconds, 0.5);
  EXPECT_DOUBLE_EQ(windows[0].progress, 1000);
  EXPECT_TRUE(windows[1].delays);
  EXPECT_DOUBLE_EQ(windows[1].seconds, 1);
  EXPECT_DOUBLE_EQ(windows[1].progress, 300);
}

TEST_F(ReadAlternation, AWindowIsComparedWithItsNeighboursWhateverTheMachineDrifts) {
  for (const std::uint64_t speed : {1000, 1100, 1200, 1300, 1400, 1500, 1600}) {
    window(2 * speed);
    window(speed + 50);
  }
  window(3400);
  const auto slowdown = read().alternation.slowdown;
  ASSERT_TRUE(slowdown);
  EXPECT_EQ(slowdown->windows, 7u);
  EXPECT_DOUBLE_EQ(slowdown->median, 2);
  EXPECT_DOUBLE_EQ(slowdown->lower, 2);
  EXPECT_DOUBLE_EQ(slowdown->upper, 2);
}

TEST_F(ReadAlternation, WhatMeasuringTookIsTakenOffWhereNoDelayMakesUpForIt) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    board_->alternation().add_cost(i, 1000, 100);
    window(i == 1 ? 500 : 900);
  }
  board_->alternation().add_delay(1, 500);
  const auto windows = read().alternation.windows;
  EXPECT_DOUBLE_EQ(windows[0].measuring, 0.1);
  EXPECT_DOUBLE_EQ(windows[0].cpu_seconds, 1000e-9);
  EXPECT_DOUBLE_EQ(windows[1].cpu_seconds, 1500e-9);
  EXPECT_DOUBLE_EQ(read().alternation.slowdown->median, 2);
}

TEST_F(ReadAlternation, WithoutProgressThereIsNoSlowdown) {
  for (int i = 0; i < 5; ++i) window(0);
  EXPECT_FALSE(read().alternation.slowdown);
  EXPECT_THAT(summary(read()), HasSubstr("told of no progress"));
}

TEST_F(ReadAlternation, WhatDoesNotFollowInTimeIsNotBelieved) {
  window(10);
  now_ = 1;
  board_->alternation().at(~std::uint64_t{0} - 5, kWindow);  // a moment that nobody can have seen
  EXPECT_EQ(read().alternation.windows.size(), 1u);
}

TEST_F(ReadAlternation, TheReportTellsItAndIsReadBack) {
  board_->alternation().add_cost(1, 1'000'000'000, 0);
  for (int i = 0; i < 3; ++i) window(i == 1 ? 500 : 1000);
  const RunReport report = read();
  EXPECT_THAT(summary(report), HasSubstr("x2.000 slower"));
  const Result<RunReport> again = parse_report(to_json(report));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->alternation.windows.size(), 3u);
  EXPECT_TRUE(again->alternation.windows[1].delays);
  EXPECT_DOUBLE_EQ(again->alternation.windows[1].cpu_seconds, 1);
  EXPECT_DOUBLE_EQ(again->alternation.slowdown->median, 2);
}

}  // namespace
}  // namespace nvmemu
