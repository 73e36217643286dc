// SPDX-License-Identifier: Apache-2.0
// What was written over by something else, by mistake or not, harms nobody who reads it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "board_files.h"
#include "report/board_owner.h"
#include "report/report_reader.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

using testing::Contains;
using testing::HasSubstr;

class HostileBoard : public BoardTest {
 protected:
  void SetUp() override {
    BoardTest::SetUp();
    process_ = board_->claim_process(7, 1);
    thread_ = board_->claim_thread(7, process_);
    honest_ = board_->claim_thread(8, process_);
    honest_->quantities[on_board("cpu_ns")] = 1000;
    honest_->quantities[on_board("epochs")] = 1;
  }
  RunReport read() {
    RunReport report;
    report.base_read_latency_ns = 100;
    report.target.read_latency_ns = 200;
    report.bandwidth.is_measured = true;
    read_board(*board_, report);
    return report;
  }
  // All but what it was opened by.
  void fill_with(int byte) {
    const auto bytes = std::filesystem::file_size(board_->path()) - sizeof(BoardHead);
    std::fstream file(board_->path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(sizeof(BoardHead));
    file << std::string(bytes, static_cast<char>(byte)) << std::flush;
    ASSERT_TRUE(file.good());
  }
  BoardProcess* process_ = nullptr;
  BoardThread* thread_ = nullptr;
  BoardThread* honest_ = nullptr;
};

TEST_F(HostileBoard, FiguresThatNoThreadHasAreLeftOut) {
  constexpr double kMost = 1e19;
  const auto set = [this](const std::function<void(BoardThread&)>& spoil) {
    std::memset(static_cast<void*>(thread_), 0, sizeof *thread_);
    thread_->tid = 7;
    spoil(*thread_);
    return read();
  };
  const std::vector<std::function<void(BoardThread&)>> spoils = {
      [](BoardThread& t) { t.quantities[on_board("epochs")] = kMost; },
      [](BoardThread& t) { t.quantities[on_board("samples")] = kMost; },
      [](BoardThread& t) { t.quantities[on_board("cpu_ns")] = kMost; },
      [](BoardThread& t) { t.unpaid_ns = std::numeric_limits<std::int64_t>::min(); },
      [](BoardThread& t) { t.quantities[on_board("sampling_variance_ns2")] = -1; },
      [](BoardThread& t) { t.quantities[on_board("sampling_variance_ns2")] = std::nan(""); },
      [](BoardThread& t) { t.quantities[on_board("counted_ns")] = kMost; },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    const RunReport report = set(spoils[i]);
    EXPECT_EQ(report.totals.threads, 1U) << i;
    EXPECT_EQ(report.totals.cpu_ns, 1000) << i;
    EXPECT_EQ(report.base_read_latency_ns, 100) << i;
    EXPECT_THAT(report.warnings, Contains(HasSubstr("make no sense, and are left out: 1"))) << i;
  }
}

TEST_F(HostileBoard, TrafficThatNoMachineMovesIsNone) {
  board_->traffic().read_bytes = std::numeric_limits<std::uint64_t>::max();
  const RunReport report = read();
  EXPECT_EQ(report.bandwidth.read_bytes, 0);
  EXPECT_FALSE(report.bandwidth.error_relative_95);
  EXPECT_THAT(report.bandwidth.error_from, HasSubstr("make no sense"));
}

TEST_F(HostileBoard, AStepsTrafficThatNoMachineMovesInASecondIsNone) {
  TrafficBoard& traffic = board_->traffic();
  traffic.series.add({traffic.start_ns, traffic.start_ns + 1000, 9e17, 0, 0}, traffic.start_ns);
  const RunReport report = read();
  EXPECT_THAT(report.bandwidth.error_from, HasSubstr("make no sense"));
  EXPECT_TRUE(parse_report(to_json(report))) << parse_report(to_json(report)).error().message;
}

TEST_F(HostileBoard, TiersHaveNoMoreThanAReportMayHold) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  TierTally::Sums& sums = board_->tiers().tiers[1];
  sums.stall_ns[StallKind::kLoad] = sums.stall_ns[StallKind::kStore] = kMost;
  sums.delay_ns = sums.placed_bytes = kMost;
  board_->tiers().readings.waited[1][3] = board_->tiers().readings.readings[1] = kMost;
  board_->tiers().unplaced = kMost;
  board_->tiers().promotions = board_->tiers().moved_bytes = board_->tiers().move_delay_ns = kMost;
  RunReport report;
  report.base_read_latency_ns = 100;
  report.source_name = "sampler";
  report.model = "stall";
  report.tiers.resize(2);
  report.migrations.policy = "hot";
  read_board(*board_, report);
  EXPECT_TRUE(parse_report(to_json(report))) << parse_report(to_json(report)).error().message;
}

TEST_F(HostileBoard, ACountOfTheLostThatNobodyHasIsNotPrinted) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  std::memset(reinterpret_cast<std::byte*>(&board_->traffic()) - sizeof kMost, 0xff, sizeof kMost);
  ASSERT_EQ(board_->lost(), kMost) << "it lies before the traffic";
  EXPECT_THAT(read().warnings, Contains(HasSubstr("missing here: 1000000000000000")));
}

TEST_F(HostileBoard, AnEscapeSequenceInACommandReachesNoTerminal) {
  std::strcpy(process_->command, "a\033[2J\n");
  std::strcpy(honest_->name, "b\033]0;x\007");
  const std::string text = to_json(read()) + summary(read());
  EXPECT_EQ(text.find('\033'), std::string::npos);
}

// Each byte of the board but its head, in turn of all ones and something between.
TEST_F(HostileBoard, OfAnyBytesMakesAReport) {
  for (const int byte : {0xff, 0x7f, 0x01, 0x80}) {
    TrafficBoard& traffic = board_->traffic();
    fill_with(byte);
    EXPECT_GT(board_->lost(), 0U);
    const RunReport report = read();
    EXPECT_LT(board_->alternation().at(~std::uint64_t{0}, 1), Alternation::kMostWindows);
    const auto json = nlohmann::json::parse(to_json(report));
    EXPECT_LE(json["totals"]["threads"].get<double>(), Board::kThreads);
    EXPECT_GE(json["totals"]["cpu_ns"].get<double>(), 0);
    EXPECT_NE(summary(report), "");
    traffic.series.add({1, ~std::uint64_t{0}, 1e6, 1e6, 0}, traffic.start_ns);  // comes back
    if (BoardProcess* claimed = board_->claim_process(9, 1)) {
      EXPECT_LT(board_->index_of(claimed), Board::kProcesses);
    }
  }
}

}  // namespace
}  // namespace nvmemu
