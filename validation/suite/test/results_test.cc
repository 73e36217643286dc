// SPDX-License-Identifier: Apache-2.0
// What is made of rows: summaries, tables, files, plots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/test/temporary_folder.h"
#include "host/test/needs.h"
#include "suite/files.h"
#include "suite/plots.h"
#include "suite/summary.h"
#include "suite/table.h"

namespace nvmemu::suite {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of native time 1, truth 2, and an emulated run that is off by so much.
Row row_of(Truth truth, const std::string& name, double error_percent) {
  Row row;
  row.experiment.truth = truth;
  row.experiment.name = name;
  row.target_ns = 500;
  row.samples.push_back(
      {.native_seconds = 1, .emulated_seconds = 2 * (1 + error_percent / 100), .truth_seconds = 2});
  return row;
}

Row failed(Truth truth) {
  Row row = row_of(truth, "broken", 0);
  row.failure = Error{"it crashed", "mend it"};
  return row;
}

TEST(Summarize, TakesAbsoluteErrorsOfEachTruthAndOfAll) {
  const auto summaries = summarize({row_of(Truth::kClosedForm, "a", -4), row_of(Truth::kClosedForm, "b", 2),
                                    row_of(Truth::kPerAccess, "c", 9)});
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_EQ(summaries[0].name, "closed-form");
  EXPECT_NEAR(summaries[0].mean, 3, 1e-9);
  EXPECT_NEAR(summaries[0].least, 2, 1e-9);
  EXPECT_NEAR(summaries[0].most, 4, 1e-9);
  EXPECT_EQ(summaries[0].worst, "a");
  EXPECT_NEAR(*summaries[0].half_width_95, 12.706, 1e-3);  // Student's t of 1 degree, standard error 1
  EXPECT_EQ(summaries[2].name, "all");
  EXPECT_NEAR(summaries[2].mean, 5, 1e-9);
}

TEST(Summarize, LeavesOutLimitsAndBounds) {
  Row limit = row_of(Truth::kClosedForm, "limit", 50);
  limit.experiment.judged = Judged::kLimit;
  Row bounds = row_of(Truth::kClosedForm, "bounds", 50);
  bounds.experiment.judged = Judged::kBounds;
  const auto summaries = summarize({row_of(Truth::kClosedForm, "a", 3), limit, bounds});
  EXPECT_EQ(summaries[0].rows, 1u);
  EXPECT_NEAR(summaries[0].most, 3, 1e-9);
  EXPECT_EQ(summaries[0].bounded, 1u);
  EXPECT_EQ(summaries[0].out_of_bounds, 1u);
}

TEST(SummaryTable, RefusesToAverageAwayAFailedRun) {
  const auto summaries = summarize({row_of(Truth::kClosedForm, "a", 3), failed(Truth::kClosedForm)});
  const std::string table = summary_table(summaries);
  EXPECT_THAT(table, HasSubstr("none: 1 of 2 rows failed"));
  EXPECT_THAT(table, Not(HasSubstr("3.0")));
}

TEST(SummaryTable, HasThePapersFiguresBesideIt) {
  const std::string table = summary_table(summarize({row_of(Truth::kClosedForm, "a", 3)}));
  EXPECT_THAT(table, HasSubstr("NVMpro, pointer chase"));
  EXPECT_THAT(table, HasSubstr("4.6"));
  EXPECT_THAT(table, HasSubstr("Quartz"));
}

TEST(RowsTable, SaysWhichTruthEachRowRestsOn) {
  const std::string table =
      rows_table({row_of(Truth::kClosedForm, "a", 3), row_of(Truth::kPerAccess, "b", -3)});
  EXPECT_LT(table.find("closed-form: "), table.find("per-access: "));
  EXPECT_THAT(table, HasSubstr("+3.0"));
  EXPECT_THAT(table, HasSubstr("-3.0"));
}

TEST(RowsTable, ShowsLimitsApartAndSaysSo) {
  Row limit = row_of(Truth::kClosedForm, "hidden work", -50);
  limit.experiment.judged = Judged::kLimit;
  const std::string table = rows_table({limit, row_of(Truth::kPerAccess, "b", -3)});
  EXPECT_LT(table.find("per-access: "), table.find("limits: "));
  EXPECT_LT(table.find("limits: "), table.find("closed-form: hidden work"));
  EXPECT_THAT(table, HasSubstr("in no mean"));
  EXPECT_THAT(table, HasSubstr("-50.0"));
}

TEST(Remarks, NameWhatWasNotRepeated) {
  Row row = row_of(Truth::kClosedForm, "a", 3);
  row.repeats_left_out = 1;
  EXPECT_THAT(remarks({row}), HasSubstr("not repeated for want of time: a, 500 ns"));
}

TEST(RowsTable, MarksWhatFailedAndWhatWasDisturbed) {
  Row disturbed = row_of(Truth::kClosedForm, "a", 3);
  disturbed.samples.push_back(disturbed.samples.front());
  disturbed.samples.front().disturbed = true;
  const std::string table = rows_table({disturbed, failed(Truth::kClosedForm)});
  EXPECT_THAT(table, HasSubstr("2 (1 disturbed)"));
  EXPECT_THAT(table, HasSubstr("FAILED"));
  EXPECT_THAT(remarks({failed(Truth::kClosedForm)}), HasSubstr("FAILED: broken, 500 ns: it crashed"));
}

TEST(Remarks, NameWhatWasSkippedForOneReasonTogether) {
  Row first = row_of(Truth::kNuma, "a", 0), second = row_of(Truth::kNuma, "b", 0);
  for (Row* row : {&first, &second}) {
    row->target_ns = 0;
    row->samples.clear();
    row->skipped = "no second node";
  }
  EXPECT_EQ(remarks({first, second}), "skipped: a; b: no second node\n");
}

TEST(Json, SaysOnWhichNodesAndWhetherTheirLatenciesWereGiven) {
  Machine machine;
  machine.nodes = NodePair{0, 1, {0}};
  Row row = row_of(Truth::kNuma, "a", 3);
  row.samples[0].truth_share_on_node = 0.99;
  const auto measured = nlohmann::json::parse(to_json({row}, {"1", "cpu", "6.1", machine, 1, 1}));
  EXPECT_TRUE(measured["machine"]["numa"]["given_latencies_ns"].is_null());
  EXPECT_EQ(measured["machine"]["numa"]["memory"], 1);
  EXPECT_EQ(measured["rows"][0]["samples"][0]["truth_share_on_node"], 0.99);
  EXPECT_TRUE(measured["rows"][0]["samples"][0]["emulated_share_on_node"].is_null());
  machine.node_latencies = NodeLatencies{90, 140};
  const auto given = nlohmann::json::parse(to_json({row}, {"1", "cpu", "6.1", machine, 1, 1}));
  EXPECT_EQ(given["machine"]["numa"]["given_latencies_ns"], nlohmann::json::parse("[90, 140]"));
}

TEST(Json, HasEveryRowAndNullForWhatIsNotKnown) {
  const auto json = nlohmann::json::parse(to_json(
      {row_of(Truth::kClosedForm, "a", 3), failed(Truth::kPerAccess)}, {"1", "cpu", "6.1", {}, 3, 2}));
  EXPECT_EQ(json["schema"], "nvmemu-validation-1");
  ASSERT_EQ(json["rows"].size(), 2u);
  EXPECT_NEAR(json["rows"][0]["error_percent"], 3, 1e-9);
  EXPECT_TRUE(json["rows"][0]["failure"].is_null());
  EXPECT_EQ(json["rows"][1]["failure"], "it crashed");
  EXPECT_TRUE(json["rows"][1]["error_percent"].is_null());
  EXPECT_TRUE(json["absolute_errors_percent"][1]["mean"].is_null());
}

TEST(Csv, HasALineForEachSampleAndQuotesNames) {
  Row row = row_of(Truth::kClosedForm, "chase, 1 chain", 3);
  row.samples.push_back(row.samples.front());
  const std::string csv = to_csv({row, failed(Truth::kPerAccess)});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_THAT(csv, HasSubstr("closed-form,\"chase, 1 chain\",error,500.0,"));
  EXPECT_THAT(csv, HasSubstr("failed: it crashed"));
}

TEST(CheckWritable, LeavesNoTraceAndSaysWhatCannotBeWritten) {
  TemporaryFolder folder;
  EXPECT_TRUE(check_writable(folder.file("new")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
  folder.write("old", "kept");
  EXPECT_TRUE(check_writable(folder.file("old")));
  EXPECT_EQ(std::filesystem::file_size(folder.file("old")), 4u);
  const auto nowhere = check_writable(folder.file("no/such/folder"));
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("No such file"));
}

TEST(Plots, DrawWhatThereIs) {
  Row chase = row_of(Truth::kClosedForm, "chase", 5);
  chase.experiment.arguments = {"--chains", "4"};
  Row workload = row_of(Truth::kPerAccess, "tree", 1);
  workload.experiment.program = Program::kWorkload;
  const auto plots = plots_of({chase, workload});
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].name, "additional-time");
  EXPECT_THAT(plots[0].script, HasSubstr("4 1.000000 1.100000"));
  EXPECT_THAT(plots[1].script, HasSubstr("'tree, 500 ns' 1"));
  EXPECT_TRUE(plots_of({}).empty());
}

// Backquotes and system() are commands where gnuplot's strings end before them.
TEST(Plots, NoNameRunsACommand) {
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  const TemporaryFolder folder;
  const std::string ran = folder.file("ran");
  std::vector<Row> rows;
  for (const std::string& name :
       {"'; system('touch " + ran + "'); x='", "\nsystem(\"touch " + ran + "\")\n", "`touch " + ran + "`",
        "\nEOD\n!touch " + ran + "\n", "\\\n!touch " + ran + "\n"})
    rows.push_back(row_of(Truth::kPerAccess, name, 1));
  const auto drawn = draw_plots(rows, folder.file("plots'`"));
  EXPECT_TRUE(drawn) << drawn.error().message;
  EXPECT_FALSE(folder.has("ran"));
}

TEST(Plots, AreWhatGnuplotUnderstands) {
  NVMEMU_NEEDS(std::system("command -v gnuplot >/dev/null") == 0, "gnuplot");
  Row chase = row_of(Truth::kClosedForm, "chase", 5);
  chase.experiment.arguments = {"--chains", "4"};
  TemporaryFolder folder;
  const auto paths = draw_plots({chase, row_of(Truth::kPerAccess, "it's", 1)}, folder.file("plots"));
  ASSERT_TRUE(paths) << paths.error().message;
  for (const std::string& path : *paths) EXPECT_GT(std::filesystem::file_size(path), 1000u) << path;
}

}  // namespace
}  // namespace nvmemu::suite
