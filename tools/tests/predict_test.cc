// SPDX-License-Identifier: Apache-2.0
// `nvmemu predict`, on records of which the answer is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "records.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PredictTest : public CliTest {
 protected:
  // One thread for 300 ms, of which it waits for 60.
  void record_one() {
    make_record(file(), kSamplerCounts,
                {{{0, 100, stalled(10)}, {100, 200, stalled(20)}, {200, 300, stalled(30)}}}, 300,
                "a warning\n");
  }
  void record_placed() {
    make_record(file(), kSamplerCounts, {{{0, 300, stalled(60, 300)}}}, 300, "", {{100}, {0}, {900}});
  }
  std::string file() const { return folder_.file("r.nvr"); }
  Outcome predict(std::vector<std::string> options) {
    options.insert(options.begin(), {"predict", file()});
    return nvmemu(options);
  }
  json predicted(std::vector<std::string> options) {
    options.push_back("--json");
    const Outcome outcome = predict(std::move(options));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  }
};

TEST_F(PredictTest, AddsTheDelayOfEachTarget) {
  record_one();
  const json found = predicted({"--read-latency", "200ns,250ns,4x"});
  EXPECT_EQ(found["schema"], "nvmemu-prediction-1");
  EXPECT_EQ(found["command"], "app --input x");
  EXPECT_EQ(found["model"], "stall");
  EXPECT_EQ(found["base"]["read_latency_ns"], 100);
  EXPECT_NEAR(found["native_seconds"], 0.3, 1e-9);
  ASSERT_EQ(found["targets"].size(), 3U);
  EXPECT_NEAR(found["targets"][0]["seconds"], 0.36, 1e-9);
  EXPECT_NEAR(found["targets"][1]["seconds"], 0.39, 1e-9);
  EXPECT_NEAR(found["targets"][2]["seconds"], 0.48, 1e-9);
  EXPECT_EQ(found["targets"][2]["target"], "4x");
  EXPECT_NEAR(found["targets"][2]["slowdown"], 1.6, 1e-9);
  EXPECT_NEAR(found["error"]["relative_95"], 0.02,
              1e-9);  // half the spread; the samples have no variance here
  EXPECT_NEAR(found["targets"][2]["seconds_error_95"], 0.0036, 1e-9);
}

// Of 60 ms of waiting a tenth is for what was touched first, the rest for what came then; a third is never
// waited for.
TEST_F(PredictTest, AnswersHowMuchDramIsEnough) {
  record_placed();
  const json found = predicted({"--tier", "far=3x", "--dram", "2M,4M,1G"});
  EXPECT_EQ(found["targets"].size(), 0U);
  EXPECT_EQ(found["memory"]["regions"], 3);
  EXPECT_EQ(found["memory"]["bytes"], 6 << 20);
  EXPECT_EQ(found["memory"]["unknown_share"], 0);
  EXPECT_EQ(found["memory"]["mappings"].size(), 1U);
  const json& placed = found["placed"];
  ASSERT_EQ(placed.size(), 6U);
  EXPECT_EQ(placed[0]["tier"], "far");
  EXPECT_EQ(placed[0]["target"], "3x");
  EXPECT_EQ(placed[0]["read_latency_ns"], 300);
  EXPECT_EQ(placed[0]["placed"], "hottest");
  EXPECT_EQ(placed[0]["dram_bytes"], 2 << 20);
  EXPECT_NEAR(placed[0]["slow_share"], 0.1, 1e-9);
  EXPECT_NEAR(placed[0]["seconds"], 0.3 + 0.1 * 2 * 0.06, 1e-9);
  EXPECT_GT(placed[0]["seconds_error_95"], 0.02 * 0.1 * 2 * 0.06);
  EXPECT_EQ(placed[1]["placed"], "first-touch");
  EXPECT_NEAR(placed[1]["seconds"], 0.3 + 0.9 * 2 * 0.06, 1e-9);
  EXPECT_NEAR(placed[2]["seconds"], 0.3, 1e-9);
  EXPECT_NEAR(placed[3]["seconds"], 0.3 + 0.9 * 2 * 0.06, 1e-9);  // the second that was touched is cold
  EXPECT_NEAR(placed[5]["seconds"], 0.3, 1e-9);
}

// Of five regions, waited for as 1 : 2 : 3 : 4 : 0, by the order in which they were touched; at 2x each part
// of the 60 ms that is in the tier is waited for twice. Between two regions, a part of one is in DRAM.
TEST_F(PredictTest, AnswersAnySizeOfDramByWhatIsLeftOfTheSum) {
  make_record(file(), kSamplerCounts, {{{0, 300, stalled(60, 300)}}}, 300, "",
              {{100}, {200}, {300}, {400}, {0}});
  const struct {
    const char* dram;
    double hottest, first_touched;  // of the stall, in the tier
  } expected[] = {{"1M", 0.8, 0.95}, {"2M", 0.6, 0.9}, {"3M", 0.45, 0.8}, {"4M", 0.3, 0.7}, {"6M", 0.1, 0.4},
                  {"7M", 0.05, 0.2}, {"8M", 0, 0},     {"9M", 0, 0},      {"10M", 0, 0},    {"1T", 0, 0}};
  std::string sizes;
  for (const auto& row : expected) sizes += (sizes.empty() ? "" : ",") + std::string(row.dram);
  const json placed = predicted({"--tier", "far=2x", "--dram", sizes})["placed"];
  ASSERT_EQ(placed.size(), 2 * std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const double shares[] = {expected[i].hottest, expected[i].first_touched};
    for (std::size_t by = 0; by < 2; ++by) {
      const json& row = placed[2 * i + by];
      EXPECT_NEAR(row["slow_share"], shares[by], 1e-9) << row;
      EXPECT_NEAR(row["seconds"], 0.3 + shares[by] * 0.06, 1e-9) << row;
      EXPECT_NEAR(row["slowdown"], row["seconds"].get<double>() / 0.3, 1e-9);
      EXPECT_GE(row["seconds_error_95"], 0.02 * shares[by] * 0.06) << "the delay's own";
      EXPECT_GT(row["slow_share_error_95"], 0.002) << "a thousand misses do not tell of fewer";
    }
  }
}

TEST_F(PredictTest, AnswersAnyRatioByItsPartOfTheSum) {
  record_placed();
  for (const auto& [ratio, part] : {std::pair{"1:1", 0.5},
                                    {"2:1", 1.0 / 3},
                                    {"1:16", 16.0 / 17},
                                    {"999:1", 0.001},
                                    {"3:2,granularity=2MiB", 0.4}}) {
    const json row = predicted({"--tier", std::string("far=500ns,interleave=") + ratio})["placed"][0];
    EXPECT_NEAR(row["slow_share"], part, 1e-9);
    EXPECT_NEAR(row["delay_seconds"], part * 4 * 0.06, 1e-9) << ratio;
    EXPECT_NEAR(row["seconds_error_95"], 0.02 * part * 4 * 0.06, 1e-9) << "that of the delay alone";
  }
}

TEST_F(PredictTest, AnswersRulesOfTiers) {
  record_placed();
  const json placed = predicted({"--tier", "far=2x,interleave=3:1", "--tier", "far=cxl-dram,rest", "--tier",
                                 "far=2x,after=2MiB", "--read-latency", "2x"})["placed"];
  ASSERT_EQ(placed.size(), 3U);
  EXPECT_EQ(placed[0]["interleave"], "3:1");
  EXPECT_NEAR(placed[0]["delay_seconds"], 0.25 * 0.06, 1e-9);
  EXPECT_EQ(placed[1]["placed"], "rest");
  EXPECT_EQ(placed[1]["target"], "cxl-dram");
  EXPECT_EQ(placed[1]["slow_share"], 1);
  EXPECT_EQ(placed[2]["placed"], "first-touch");
  EXPECT_NEAR(placed[2]["delay_seconds"], 0.9 * 0.06, 1e-9);
}

TEST_F(PredictTest, PrintsATableOfPlacements) {
  record_placed();
  const Outcome outcome = predict({"--tier", "far=2x,interleave=3:1", "--tier", "nvm=3x", "--dram", "2M"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(
      outcome.out,
      AllOf(HasSubstr("6 MiB in memory, in 3 regions of 2 MiB; which was waited for is known of 100.0 %"),
            HasSubstr("far is of 200 ns (2x)"), HasSubstr("interleaved 3:1: 25 %"),
            HasSubstr("nvm is of 300 ns (3x)"), HasSubstr("2 MiB, hottest: 10 %"),
            HasSubstr("2 MiB, first touched: 90 %")));
}

TEST_F(PredictTest, RefusesPlacementsThatItCannotTell) {
  record_placed();
  const auto error = [this](std::vector<std::string> options) {
    const Outcome outcome = predict(std::move(options));
    EXPECT_EQ(outcome.status, 125);
    return outcome.err;
  };
  EXPECT_THAT(error({"--dram", "1G"}), HasSubstr("--dram: it is not said what memory is beside it"));
  EXPECT_THAT(error({"--tier", "far=2x"}), HasSubstr("it is not said what lies there"));
  EXPECT_THAT(error({"--tier", "far=2x", "--dram", "much"}), HasSubstr("--dram: "));
  EXPECT_THAT(error({"--tier", "far=2x,node=1"}),
              AllOf(HasSubstr("does not tell of node 1, for the program was not shown one"),
                    HasSubstr("hint: record it again with --tier far=MEMORY,node=1")));
  for (const char* rule : {"malloc=1MiB", "caller=build"}) {
    EXPECT_THAT(error({"--tier", std::string("far=2x,") + rule}),
                AllOf(HasSubstr("does not tell who allocated what was waited for"),
                      HasSubstr("hint: record it again with --allocation-sites")));
  }
  EXPECT_THAT(error({"--tier", "far=2x,malloc=1MiB,rest"}), HasSubstr("one rule at a time"));
  EXPECT_THAT(error({"--tier", "far=2x,file=/no/such"}), HasSubstr("no memory of /no/such was seen"));
  EXPECT_THAT(error({"--tier", "far=2x,file=/no/such,rest"}), HasSubstr("one rule at a time"));
  EXPECT_THAT(error({"--tier", "far"}), HasSubstr("--tier: "));
  EXPECT_THAT(error({"--tier", "far=50ns,rest"}), HasSubstr("--tier: tier far asks for"));
}

TEST_F(PredictTest, SaysWhyARecordDoesNotTellOfPlacements) {
  const auto error = [this] { return predict({"--tier", "far=2x", "--dram", "1G"}).err; };
  record_one();
  EXPECT_THAT(error(), HasSubstr("no walk came upon a load from memory"));
  std::string bytes = folder_.read("r.nvr");
  bytes[8] = 1;  // the version
  folder_.write("r.nvr", bytes);
  EXPECT_THAT(error(), HasSubstr("it was made by a version that did not note it"));
  EXPECT_EQ(predict({"--tier", "far=2x,rest"}).status, 0);  // for which it need not be known
  make_record(file(), kCountsStall | kCountsMisses, {{{0, 100, stalled(10)}}}, 100);
  EXPECT_THAT(error(), HasSubstr("hardware counters do not know"));
}

TEST_F(PredictTest, PrintsATable) {
  record_one();
  const Outcome outcome = predict({"--read-latency", "2x", "--profile", "optane-dcpmm"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("200 ns (2x)"), HasSubstr("0.360"), HasSubstr("(optane-dcpmm)"),
                                 HasSubstr("1 thread in 1 process")));
  EXPECT_EQ(outcome.err, "nvmemu: warning: a warning\n");
}

TEST_F(PredictTest, PrintsNoEscapeSequenceOfAFile) {
  record_one();
  std::string bytes = folder_.read("r.nvr");
  const std::size_t source = bytes.find("sampler");
  ASSERT_NE(source, std::string::npos);
  folder_.write("r.nvr", bytes.replace(source, 7, "\033]0;xy\a"));
  const std::string profile = folder_.write("\033[31m.toml", "read_latency = '1us'");
  const Outcome outcome = predict({"--read-latency", "2x", "--profile", profile});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("by ?]0;xy?"), Not(HasSubstr("\033")), HasSubstr("(?[31m)")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\033")));
}

TEST_F(PredictTest, GivesBoundsWhereThereAreSeveralThreads) {
  make_record(file(), kSamplerCounts, {{{0, 100, stalled(10)}}, {{0, 100, stalled(20)}}}, 100);
  const json target = predicted({"--read-latency", "2x"})["targets"][0];
  EXPECT_NEAR(target["seconds"], 0.120, 1e-9);  // side by side
  EXPECT_NEAR(target["seconds_least"], 0.120, 1e-9);
  EXPECT_NEAR(target["seconds_most"], 0.130, 1e-9);
  EXPECT_THAT(predict({"--read-latency", "2x"}).out, HasSubstr("0.120 to 0.130"));
}

TEST_F(PredictTest, AddsThreadsThatRanOneAfterAnother) {
  make_record(file(), kSamplerCounts, {{{0, 100, stalled(10)}}, {{100, 200, stalled(20)}}}, 200);
  EXPECT_NEAR(predicted({"--read-latency", "2x"})["targets"][0]["seconds"], 0.230, 1e-9);
}

TEST_F(PredictTest, SaysSoWhereTheRecordingWasCutOff) {
  make_record(file(), kSamplerCounts, {{{0, 100, stalled(10)}}}, 0);
  const json found = predicted({"--read-latency", "2x"});
  EXPECT_NEAR(found["targets"][0]["seconds"], 0.110, 1e-9);
  EXPECT_TRUE(found["exit_status"].is_null());
  EXPECT_THAT(found["warnings"].get<std::vector<std::string>>(), Contains(HasSubstr("cut off")));
}

TEST_F(PredictTest, ClaimsNoErrorWhereNothingWasRecorded) {
  make_record(file(), kSamplerCounts, {}, 100);
  const json found = predicted({"--read-latency", "2x"});
  EXPECT_TRUE(found["error"]["relative_95"].is_null());
  EXPECT_TRUE(found["targets"][0]["seconds_error_95"].is_null());
  EXPECT_THAT(found["warnings"].get<std::vector<std::string>>(),
              Contains(HasSubstr("no epoch was recorded")));
}

TEST_F(PredictTest, TakesTheModelThatIsNamed) {
  EpochCounts counts;
  counts.loads.misses = 100e3;
  counts.loads.episodes = 30e3;
  make_record(file(), kCountsMisses | kCountsEpisodes, {{{0, 100, counts}}}, 100);
  EXPECT_NEAR(predicted({"--read-latency", "2x"})["targets"][0]["delay_seconds"], 0.003, 1e-9);
  EXPECT_NEAR(predicted({"--read-latency", "2x", "--model", "misses"})["targets"][0]["delay_seconds"], 0.010,
              1e-9);
}

// What is wrong, and what nvmemu says to it.
struct PredictMistake {
  const char* name;
  std::vector<std::string> options;
  const char* message;
};

class PredictRefuses : public PredictTest, public testing::WithParamInterface<PredictMistake> {};

TEST_P(PredictRefuses, WithAReason) {
  record_one();
  const Outcome outcome = predict(GetParam().options);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(testing::StartsWith("nvmemu: error: "), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, PredictRefuses,
    testing::Values(
        PredictMistake{"NoTarget", {}, "nothing to predict"},
        PredictMistake{"NoUnit", {"--read-latency", "200ns,300"}, "--read-latency: '300'"},
        PredictMistake{"BelowTheBase", {"--read-latency", "50ns"}, "already takes 100 ns"},
        PredictMistake{"UnknownProfile", {"--profile", "optain"}, "--profile: "},
        PredictMistake{"UnknownModel", {"--read-latency", "2x", "--model", "ewma"}, "'ewma' is not one of"},
        PredictMistake{"ModelWithoutCounts",
                       {"--read-latency", "2x", "--model", "misses"},
                       "model misses needs misses, and the record counts stall time only"},
        PredictMistake{
            "RemoteLatency", {"--read-latency", "2x", "--remote-latency", "far"}, "--remote-latency: 'far'"}),
    [](const auto& test) { return test.param.name; });

TEST_F(PredictTest, RefusesWhatIsNoRecord) {
  EXPECT_THAT(predict({"--read-latency", "2x"}).err, HasSubstr("No such file"));
  folder_.write("r.nvr", "{}");
  const Outcome outcome = predict({"--read-latency", "2x"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("r.nvr: it is no record"), HasSubstr("hint: nvmemu record")));
  record_one();
  std::string bytes = folder_.read("r.nvr");
  folder_.write("r.nvr", bytes.substr(0, bytes.size() - 100));
  EXPECT_THAT(predict({"--read-latency", "2x"}).err, HasSubstr("r.nvr: it is cut short"));
}

}  // namespace
}  // namespace nvmemu
