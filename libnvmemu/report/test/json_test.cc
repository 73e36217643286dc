// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "board_files.h"
#include "example_report.h"
#include "report/merge_reports.h"
#include "report/report_reader.h"
#include "report/run_report.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using testing::UnorderedElementsAreArray;

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  for (const auto& item : object.items()) result.push_back(item.key());
  return result;
}

TEST(ReportJson, HasTheSchemasFieldsAndNoOthers) {
  const json report = json::parse(to_json(example_report()));
  EXPECT_THAT(keys(report),
              UnorderedElementsAre("schema", "command", "exit_status", "wall_seconds", "source", "model",
                                   "base", "target", "error", "warnings", "totals", "tiers", "places",
                                   "migrations", "persists", "paging", "storage", "walks", "alternation",
                                   "bandwidth", "processes"));
  EXPECT_THAT(keys(report["walks"]), UnorderedElementsAre("walks", "instructions", "passed", "ended_by"));
  EXPECT_THAT(keys(report["source"]),
              UnorderedElementsAre("name", "why", "design", "quality", "counted_share", "ticker"));
  EXPECT_THAT(keys(report["base"]),
              UnorderedElementsAre("read_latency_ns", "at_start_ns", "read_latency_spread"));
  EXPECT_THAT(keys(report["target"]), UnorderedElementsAre("profile", "read_latency_ns", "write_latency_ns",
                                                           "read_bandwidth_bps", "write_bandwidth_bps"));
  EXPECT_THAT(keys(report["error"]), UnorderedElementsAre("relative_95", "from"));
  const auto with_quantities = [](std::vector<std::string> names) {
    for_each_quantity<kOnBoards | kInReports>(
        [&](const QuantityRow& row, std::size_t) { names.emplace_back(row.name); });
    return names;
  };
  EXPECT_THAT(keys(report["totals"]), UnorderedElementsAreArray(with_quantities({"threads", "unpaid_ns"})));
  EXPECT_THAT(keys(report["processes"][0]),
              UnorderedElementsAre("pid", "ppid", "command", "emulated", "threads"));
  const json thread = report["processes"][0]["threads"][0];
  EXPECT_THAT(keys(thread),
              UnorderedElementsAreArray(with_quantities({"tid", "name", "unpaid_ns", "ended"})));
  for (const char* first : {"epochs", "cpu_ns", "stall_ns", "injected_ns", "overhead_ns"})
    EXPECT_TRUE(thread[first].is_number()) << "the schema takes no field away";
}

TEST(ReportJson, SaysNothingOfWhatItsSourceDoesNotTell) {
  RunReport report = example_report();
  EXPECT_GT(json::parse(to_json(report))["totals"]["store_stall_ns"], 0);
  report.source_name = "none";
  EXPECT_TRUE(json::parse(to_json(report))["totals"]["store_stall_ns"].is_null());
  report.source_name = "pmu";
  const json counted = json::parse(to_json(report));
  EXPECT_TRUE(counted["totals"]["store_stall_ns"].is_null());
  EXPECT_TRUE(counted["processes"][0]["threads"][0]["load_held_ns"].is_null());
  EXPECT_GT(counted["totals"]["stall_ns"], 0);
  EXPECT_TRUE(parse_report(to_json(report))) << "and is read all the same";
}

TEST(ReportJson, SaysNothingOfABandwidthThatNobodyMeasured) {
  EXPECT_TRUE(json::parse(to_json(example_report()))["bandwidth"].is_null());
}

TEST(ReportJson, SaysOfPagingWhatIsReadBack) {
  EXPECT_TRUE(json::parse(to_json(example_report()))["paging"].is_null());
  RunReport report = example_report();
  report.paging = {.dram_bytes = 1 << 28,
                   .page_to = "/dev/shm",
                   .device = "optane-ssd",
                   .layout = "log",
                   .store = "direct"};
  report.paging.hard = {.faults = 7,
                        .mean_ns = 20e3,
                        .median_ns = 18e3,
                        .p99_ns = 30e3,
                        .p999_ns = 40e3,
                        .histogram = {{16e3, 18e3, 4}, {30e3, 32e3, 3}}};
  report.paging.random_read_pages = 7;
  report.paging.write_faults = 2;
  report.paging.write = {.faults = 2, .mean_ns = 600, .median_ns = 608, .histogram = {{576, 640, 2}}};
  report.paging.device_ns = 63e3;
  const json paging = json::parse(to_json(report))["paging"];
  EXPECT_EQ(paging["hard_faults"]["median_ns"], 18e3);
  EXPECT_TRUE(paging["soft_faults"]["median_ns"].is_null());
  EXPECT_EQ(paging["hard_faults"]["histogram"][1]["faults"], 3);
  EXPECT_EQ(paging["soft_faults"]["histogram"].size(), 0U);
  EXPECT_EQ(paging["random_read_pages"], 7);
  EXPECT_EQ(paging["layout"], "log");
  EXPECT_EQ(paging["store"], "direct");
  EXPECT_EQ(paging["write_faults"], 2);
  EXPECT_EQ(paging["write_fault_times"]["histogram"][0]["faults"], 2);
  const Result<RunReport> read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(report));
}

TEST(ReportJson, HasTheTiers) {
  RunReport report = example_report();
  EXPECT_EQ(json::parse(to_json(report))["tiers"], json::array());
  report.tiers = {{.name = "dram", .profile = "", .rule = "what is in no other", .has_the_rest = true},
                  {.name = "nvm",
                   .profile = "pcm",
                   .read_latency_ns = 500,
                   .rule = "file /x",
                   .placed_bytes = 4096,
                   .stall_ns = 1e9,
                   .delay_ns = 2e9,
                   .readings = 50,
                   .share_error_95 = 0.1}};
  report.tiers[0].stall_ns = 3e9;
  report.totals.stall_ns = 4e9;
  report.totals.unwalked_ns = 1e9;
  const json tiers = json::parse(to_json(report))["tiers"];
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_THAT(keys(tiers[1]),
              UnorderedElementsAre("name", "profile", "read_latency_ns", "rule", "has_the_rest",
                                   "placed_bytes", "read_bytes", "written_bytes", "stall_ns", "delay_ns",
                                   "readings", "share", "share_error_95", "told_by", "load_stall_ns",
                                   "locked_stall_ns", "store_stall_ns", "fence_stall_ns"));
  EXPECT_EQ(tiers[1]["share"], 0.25);
  EXPECT_EQ(tiers[1]["share_error_95"], 0.1);
  EXPECT_EQ(tiers[1]["told_by"]["walks"], 0.75);
  EXPECT_EQ(tiers[1]["told_by"]["as_others"], 0.25);
  EXPECT_TRUE(tiers[0]["share_error_95"].is_null());
  EXPECT_EQ(tiers[1]["delay_ns"], 2e9);
  EXPECT_TRUE(tiers[0]["profile"].is_null());

  const auto read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tiers.size(), 2U);
  EXPECT_EQ(read->tiers[1].rule, "file /x");
  EXPECT_EQ(read->tiers[1].placed_bytes, 4096);
  EXPECT_TRUE(read->tiers[0].has_the_rest);
  EXPECT_EQ(read->tiers[1].readings, 50);
  EXPECT_EQ(read->tiers[1].share_error_95, 0.1);
  EXPECT_FALSE(read->tiers[0].share_error_95);
}

TEST(ReportJson, HasThePlaces) {
  RunReport report = example_report();
  report.places = {{.pid = 7, .name = "[heap]", .begin = 4096, .bytes = 8192, .stall_ns = 1e9},
                   PlaceReport{.name = "", .site = "build at app+0x12"}};
  const json places = json::parse(to_json(report))["places"];
  ASSERT_EQ(places.size(), 2U);
  EXPECT_THAT(keys(places[0]), UnorderedElementsAre("pid", "name", "site", "begin", "bytes", "stall_ns"));
  EXPECT_TRUE(places[1]["name"].is_null());
  const auto read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->places.size(), 2U);
  EXPECT_EQ(read->places[0].name, "[heap]");
  EXPECT_EQ(read->places[0].bytes, 8192);
  EXPECT_EQ(read->places[0].site, "");
  EXPECT_EQ(read->places[1].site, "build at app+0x12");
}

TEST(ReportJson, HasTheMigrations) {
  RunReport report = example_report();
  EXPECT_TRUE(json::parse(to_json(report))["migrations"].is_null());
  report.migrations = {.policy = "hot", .promotions = 10, .demotions = 8, .bytes = 18 << 21, .delay_ns = 3e6};
  const auto read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->migrations.policy, "hot");
  EXPECT_EQ(read->migrations.promotions, 10U);
  EXPECT_EQ(read->migrations.demotions, 8U);
  EXPECT_EQ(read->migrations.bytes, 18 << 21);
  EXPECT_EQ(read->migrations.delay_ns, 3e6);
  EXPECT_EQ(merge_reports({report, report})->migrations.promotions, 20U);
}

TEST(ReportJson, HasThePersists) {
  RunReport report = example_report();
  EXPECT_TRUE(json::parse(to_json(report))["persists"].is_null());
  report.persists = {.is_emulated = true,
                     .native_ns = 205,
                     .persists = 10,
                     .lines = 40,
                     .delay_ns = 3000,
                     .estimated_persists = 7,
                     .estimated_lines = 9,
                     .estimated_delay_ns = 1000,
                     .estimated_error_ns = 300};
  const auto read = parse_report(to_json(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->persists.native_ns, 205);
  EXPECT_EQ(read->persists.estimated_persists, 7U);
  EXPECT_EQ(read->persists.estimated_lines, 9U);
  EXPECT_EQ(read->persists.estimated_delay_ns, 1000);
  EXPECT_EQ(read->persists.estimated_error_ns, 300);
  EXPECT_EQ(read->persists.lines, 40U);
  EXPECT_EQ(read->persists.delay_ns, 3000);
}

TEST(ReportJson, HasTheBandwidth) {
  RunReport report = example_report();
  report.bandwidth.is_measured = true;
  report.bandwidth.by = "governor";
  report.bandwidth.read_bytes = 3e9;
  report.bandwidth.read_reached_bps = 4e9;
  report.bandwidth.over_time = {0.1, {{1e8, 2e7, 0}, {2e8, 0, 0}}};
  const json bandwidth = json::parse(to_json(report))["bandwidth"];
  EXPECT_THAT(keys(bandwidth),
              UnorderedElementsAre("by", "why", "read_bytes", "written_bytes", "read_reached_bps",
                                   "write_reached_bps", "held_ns", "error", "over_time"));
  EXPECT_EQ(bandwidth["by"], "governor");
  EXPECT_EQ(bandwidth["read_reached_bps"], 4e9);
  EXPECT_TRUE(bandwidth["write_reached_bps"].is_null());
  EXPECT_EQ(bandwidth["over_time"]["step_seconds"], 0.1);
  EXPECT_EQ(bandwidth["over_time"]["read_bps"], json({1e9, 2e9}));
  EXPECT_EQ(bandwidth["over_time"]["write_bps"], json({2e8, 0.0}));
}

TEST(ReportJson, CarriesTheValues) {
  const json report = json::parse(to_json(example_report()));
  EXPECT_EQ(report["schema"], "nvmemu-run-1");
  EXPECT_EQ(report["command"], json({"app", "--input", "x y"}));
  EXPECT_EQ(report["exit_status"], 3);
  EXPECT_EQ(report["wall_seconds"], 1.5);
  EXPECT_EQ(report["source"]["ticker"], "perf_event");
  EXPECT_EQ(report["base"]["read_latency_ns"], 163.25);
  EXPECT_EQ(report["base"]["at_start_ns"], 163.25);
  EXPECT_EQ(report["target"]["read_latency_ns"], 326.5);
  EXPECT_TRUE(report["target"]["write_latency_ns"].is_null());
  EXPECT_TRUE(report["target"]["profile"].is_null());
  EXPECT_EQ(report["error"]["relative_95"], 0.03);
  EXPECT_EQ(report["warnings"], json({"a warning"}));
  EXPECT_EQ(report["totals"]["samples"], 2000);
  EXPECT_EQ(report["totals"]["unpaid_ns"], -2e4);
  EXPECT_EQ(report["processes"][0]["threads"][0]["ended"], true);
}

TEST(ReportJson, EndsWithANewline) { EXPECT_EQ(to_json(RunReport{}).back(), '\n'); }

TEST(ReportJson, IsCompleteWhereNothingWasMeasured) {
  const json report = json::parse(to_json(RunReport{}));
  EXPECT_TRUE(report["error"]["relative_95"].is_null());
  EXPECT_EQ(report["command"], json::array());
  EXPECT_EQ(report["warnings"], json::array());
  EXPECT_EQ(report["processes"], json::array());
}

TEST(ReportJson, ReplacesWhatIsNoUtf8) {
  RunReport report = example_report();
  report.command = {"caf\xe9", "\xff\xfe"};
  report.processes[0].command = "cut off \xe2\x82";
  report.processes[0].threads[0].name = "\x80";
  const json parsed = json::parse(to_json(report));
  EXPECT_EQ(parsed["command"][0], "caf\xef\xbf\xbd");
  EXPECT_EQ(parsed["processes"][0]["command"], "cut off \xef\xbf\xbd");
}

TEST(WriteReport, PutsTheReportInPlaceOfWhatWasThere) {
  const TemporaryFolder folder;
  const std::string path = folder.write("run.json", std::string(100'000, 'x'));
  ASSERT_TRUE(write_report(example_report(), path));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), to_json(example_report()));
}

TEST(WriteReport, NamesTheFileAndWhyItCannotBeWritten) {
  const TemporaryFolder folder;
  const auto missing = write_report(example_report(), folder.file("none/run.json"));
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("none/run.json: No such file"));
  const auto full = write_report(example_report(), "/dev/full");
  ASSERT_FALSE(full);
  EXPECT_THAT(full.error().message, HasSubstr("/dev/full: No space left"));
}

}  // namespace
}  // namespace nvmemu
