// SPDX-License-Identifier: Apache-2.0
#include "report/report_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "example_report.h"
#include "report/merge_reports.h"

namespace nvmemu {
namespace {

using nlohmann::json;

RunReport report_of(std::uint32_t pid = 100) {
  RunReport report = example_report();
  report.target_profile = "pcm";
  report.processes[0].pid = pid;
  return report;
}

TEST(ReadReport, GivesBackWhatWasWritten) {
  const std::string text = to_json(report_of());
  const auto report = parse_report(text);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(to_json(*report), text);
}

TEST(ReadReport, GivesBackWhatIsNotKnown) {
  RunReport unknown = report_of();
  unknown.error_relative_95.reset();
  unknown.target_profile.clear();
  unknown.processes[0].emulated = false;
  const auto report = parse_report(to_json(unknown));
  ASSERT_TRUE(report);
  EXPECT_EQ(to_json(*report), to_json(unknown));
}

RunReport with_walks() {
  RunReport report = report_of();
  report.walks = {
      .walks = 10, .instructions = 25000, .passed = {{"flushes", 7}}, .ended_by = {{"fault", 1}, {"x87", 2}}};
  return report;
}

TEST(ReadReport, GivesBackTheWalks) {
  const auto report = parse_report(to_json(with_walks()));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(to_json(*report), to_json(with_walks()));
}

TEST(MergeReports, AddsUpWalks) {
  const auto merged = merge_reports({with_walks(), with_walks()});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->walks.instructions, 50000U);
  EXPECT_EQ(merged->walks.ended_by.at("x87"), 4U);
  EXPECT_EQ(merged->walks.passed.at("flushes"), 14U);
}

RunReport with_bandwidth() {
  RunReport report = report_of();
  report.target.read_bandwidth_bps = 4e9;
  report.bandwidth.is_measured = true;
  report.bandwidth.by = "governor";
  report.bandwidth.why = "it works in any process";
  report.bandwidth.read_bytes = 3e9;
  report.bandwidth.written_bytes = 1e9;
  report.bandwidth.held_ns = 5e8;
  report.bandwidth.read_reached_bps = 3.75e9;
  report.bandwidth.error_relative_95 = 0.125;
  report.bandwidth.error_from = "70 samples";
  report.bandwidth.over_time = {0.5, {{1e9, 5e8, 0}, {2e9, 5e8, 0}}};
  return report;
}

TEST(ReadReport, GivesBackTheBandwidth) {
  const auto report = parse_report(to_json(with_bandwidth()));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(to_json(*report), to_json(with_bandwidth()));
  EXPECT_EQ(merge_reports({*report})->bandwidth.read_bytes, 3e9) << "of one report it is that";
  EXPECT_EQ(to_json(*merge_reports({*report})), to_json(with_bandwidth()));
}

TEST(MergeReports, AddsUpBytesAndClaimsNoCommonCourse) {
  const auto merged = merge_reports({with_bandwidth(), with_bandwidth()});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->bandwidth.read_bytes, 6e9);
  EXPECT_EQ(merged->bandwidth.held_ns, 1e9);
  EXPECT_EQ(merged->bandwidth.by, "governor");
  EXPECT_FALSE(merged->bandwidth.read_reached_bps);
  EXPECT_TRUE(merged->bandwidth.over_time.steps.empty());
}

TEST(MergeReports, RefusesOtherBandwidths) {
  RunReport other = with_bandwidth();
  other.target.read_bandwidth_bps = 2e9;
  EXPECT_FALSE(merge_reports({with_bandwidth(), other}));
}

TEST(ReadReport, RefusesWhatIsNoReport) {
  for (const char* text : {"", "{", "[]", "3", "{}", R"({"schema": "nvmemu-run-2"})", R"({"schema": 1})",
                           R"({"schema": "nvmemu-run-1"})"}) {
    const auto report = parse_report(text);
    ASSERT_FALSE(report) << text;
    EXPECT_NE(report.error().message, "") << text;
  }
}

// Every field in turn is missing, then of another kind.
TEST(ReadReport, NamesTheFieldThatIsWrong) {
  const json whole = json::parse(to_json(report_of()));
  for (const auto& item : whole.items()) {
    if (item.key() == "schema") continue;
    json broken = whole;
    broken.erase(item.key());
    auto report = parse_report(broken.dump());
    ASSERT_FALSE(report) << item.key();
    EXPECT_NE(report.error().message.find(item.key()), std::string::npos) << report.error().message;
    broken[item.key()] = item.value().is_string() ? json(1) : json("text");
    EXPECT_FALSE(parse_report(broken.dump())) << item.key();
  }
}

// Each number in turn is less than nothing, beyond all bounds, and no number.
TEST(ReadReport, RefusesBytesThatDoNotFitIntoACount) {
  json broken = json::parse(to_json(with_bandwidth()));
  broken["bandwidth"]["read_bytes"] = 1e20;
  EXPECT_FALSE(parse_report(broken.dump()));
}

TEST(ReadReport, RefusesNumbersThatNoRunHas) {
  const json whole = json::parse(to_json(with_bandwidth()));
  const json flat = whole.flatten();
  int numbers = 0;
  for (const auto& item : flat.items()) {
    if (!item.value().is_number()) continue;
    ++numbers;
    const bool is_signed = item.key().ends_with("unpaid_ns");
    for (const json& wrong : {is_signed ? json(-1e30) : json(-1), json(1e30),
                              json(std::uint64_t{18446744073709551611U}), json("1")}) {
      if (wrong.is_number_unsigned() && item.value().is_number_float()) continue;  // of nanoseconds it may be
      json broken = whole;
      broken[json::json_pointer(item.key())] = wrong;
      const auto report = parse_report(broken.dump());
      ASSERT_FALSE(report) << item.key() << " " << wrong;
      EXPECT_NE(report.error().message.find("number from"), std::string::npos) << report.error().message;
    }
  }
  EXPECT_GT(numbers, 30);
}

TEST(ReadReport, PrintsNoEscapeSequenceOfAFile) {
  json report = json::parse(to_json(report_of()));
  report["warnings"] = {"\033]0;title\007", "\u009b31m"};
  report["model"] = "\033[2J";
  report["target"]["profile"] = "\177";
  const auto read = parse_report(report.dump());
  ASSERT_TRUE(read) << read.error().message;
  for (const std::string& text : {summary(*read), to_json(*read)}) {
    for (const char* control : {"\033", "\007", "\177", "\u009b"})
      EXPECT_EQ(text.find(control), std::string::npos);
  }
  report["schema"] = "\033[2J";
  EXPECT_EQ(parse_report(report.dump()).error().message.find('\033'), std::string::npos);
  report["schema"] = "nvmemu-run-1";
  report["model"] = {{"\033", 1}};
  EXPECT_EQ(parse_report(report.dump()).error().message.find('\033'), std::string::npos);
}

TEST(ReadReport, NamesTheFileThatCannotBeRead) {
  const auto report = read_report("/nonexistent/report.json");
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("/nonexistent/report.json"), std::string::npos);
}

TEST(MergeReports, OneStaysWhatItIs) {
  const auto merged = merge_reports({report_of()});
  ASSERT_TRUE(merged);
  EXPECT_EQ(to_json(*merged), to_json(report_of()));
}

TEST(MergeReports, AddsFiguresAndKeepsTheWorst) {
  RunReport other = report_of(200);
  other.exit_status = 0;
  other.wall_seconds = 2;
  other.warnings.emplace_back("another");
  const auto merged = merge_reports({report_of(), other});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->exit_status, 3);
  EXPECT_DOUBLE_EQ(merged->wall_seconds, 2);
  EXPECT_EQ(merged->totals.threads, 2u);
  EXPECT_DOUBLE_EQ(merged->totals.injected_ns, 18e5);
  ASSERT_EQ(merged->processes.size(), 2u);
  EXPECT_EQ(merged->processes[1].pid, 200u);
  EXPECT_EQ(merged->warnings, (std::vector<std::string>{"a warning", "another"}));
  // Two independent errors of 3 % each, of equal delays.
  EXPECT_NEAR(merged->error_relative_95.value(), 0.03 / std::sqrt(2), 1e-6);
}

TEST(MergeReports, ErrorHasAFloor) {
  RunReport one = report_of();
  one.error_relative_95 = 0.005;
  const auto merged = merge_reports(std::vector<RunReport>(200, one));
  ASSERT_TRUE(merged);
  EXPECT_DOUBLE_EQ(merged->error_relative_95.value(), 0.005);
}

TEST(MergeReports, AnErrorThatIsNotKnownStaysSo) {
  RunReport other = report_of();
  other.error_relative_95.reset();
  EXPECT_FALSE(merge_reports({report_of(), other})->error_relative_95);
}

TEST(MergeReports, RefusesDifferentTargets) {
  RunReport other = report_of();
  other.target.read_latency_ns = 1000;
  EXPECT_FALSE(merge_reports({report_of(), other}));
}

}  // namespace
}  // namespace nvmemu
