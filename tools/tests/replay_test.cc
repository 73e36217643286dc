// SPDX-License-Identifier: Apache-2.0
// `nvmemu run --source replay:FILE`: the delays of known counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "records.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ReplayTest : public CliTest {
 protected:
  // The base latency is the record's.
  Outcome replay(std::vector<std::string> options, std::vector<std::string> command) {
    options.insert(options.begin(), {"run", "--source", "replay:" + folder_.file("r.nvr"), "--report",
                                     folder_.file("report.json")});
    options.push_back("--");
    options.insert(options.end(), command.begin(), command.end());
    return nvmemu(options);
  }
  // What was spun, and what more or less than that was due. To the ns that the board keeps for each thread.
  void expect_delay(double ms) {
    const json totals = report()["totals"];
    EXPECT_NEAR(totals["injected_ns"].get<double>() + totals["unpaid_ns"].get<double>(), ms * 1e6, 2)
        << totals;
    EXPECT_GE(totals["injected_ns"], (ms - 0.001) * 1e6);  // less than 1 us is not worth a spin
  }
};

TEST_F(ReplayTest, InjectsExactlyWhatTheModelSays) {
  make_record(folder_.file("r.nvr"), kSamplerCounts,
              {{{0, 100, stalled(10)}, {100, 200, stalled(20)}, {200, 300, stalled(30)}}}, 300);
  const Outcome outcome = replay({"--read-latency", "250ns"}, {"true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  expect_delay(60 * 1.5);
  EXPECT_EQ(report()["source"]["name"], "replay");
  EXPECT_EQ(report()["base"]["read_latency_ns"], 100);
  EXPECT_EQ(report()["totals"]["stall_ns"], 60e6);
  EXPECT_EQ(report()["totals"]["epochs"], 3);
}

TEST_F(ReplayTest, FeedsEveryModel) {
  EpochCounts counts;
  counts.cpu_ns = 100e6;
  counts.loads = {
      .hits = 0, .misses = 100e3, .local = 0, .remote = 0, .cache_stall_ns = 5e6, .episodes = 30e3};
  make_record(folder_.file("r.nvr"), kAllCounts & ~kCountsStall, {{{0, 100, counts}}}, 100);
  const std::pair<const char*, double> delays_ms[] = {
      {"misses", 10}, {"episodes", 3}, {"weighted", 5}, {"auto", 5}};
  for (const auto& [model, ms] : delays_ms) {
    replay({"--read-latency", "200ns", "--model", model}, {"true"});
    expect_delay(ms);
  }
  EXPECT_EQ(report()["model"], "weighted");
}

TEST_F(ReplayTest, GivesEachProcessItsOwn) {
  make_record(folder_.file("r.nvr"), kSamplerCounts, {{{0, 100, stalled(10)}}, {{0, 100, stalled(20)}}}, 100);
  replay({"--read-latency", "200ns"}, {"sh", "-c", "(:); exit 0"});  // a shell that forks
  const json processes = report()["processes"];
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_NEAR(processes[0]["threads"][0]["stall_ns"], 10e6, 1);
  EXPECT_NEAR(processes[1]["threads"][0]["stall_ns"], 20e6, 1);
}

TEST_F(ReplayTest, OfARecordThatIsBrokenIsRefused) {
  folder_.write("r.nvr", "nothing of the kind");
  const Outcome outcome = replay({"--read-latency", "2x"}, {"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("r.nvr: it is no record"));
}

TEST_F(ReplayTest, WithAModelThatTheRecordCannotFeedIsRefused) {
  make_record(folder_.file("r.nvr"), kSamplerCounts, {{{0, 100, stalled(10)}}}, 100);
  const Outcome outcome = replay({"--read-latency", "2x", "--model", "episodes"}, {"true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("model episodes needs episodes, and the record counts stall time only"));
}

}  // namespace
}  // namespace nvmemu
