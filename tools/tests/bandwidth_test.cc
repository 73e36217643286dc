// SPDX-License-Identifier: Apache-2.0
// `nvmemu run` with a bandwidth, or asked what the command moves, as its caller sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli.h"
#include "counters/pmu/catalogue.h"
#include "host/cpu.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class BandwidthTest : public CliTest {
 protected:
  // What reads 256 MB eight times over, or more, after it has written them; in `options`. It takes long
  // enough to be sampled anywhere.
  Outcome stream(std::vector<std::string> options) {
    options.insert(options.end(), {"--report", folder_.file("report.json"), "--", NVMEMU_TEST_STREAMER});
    return run(std::move(options));
  }
  int samples() const { return report()["totals"]["samples"]; }
  static constexpr int kEnough = 20;
};

TEST_F(BandwidthTest, IsNotMeasuredUnlessAskedFor) {
  EXPECT_EQ(run_plainly({"true"}).status, 0);
  EXPECT_TRUE(bandwidth().is_null());
}

TEST_F(BandwidthTest, StatNeedsNoTargetAndTellsWhatWasMoved) {
  const Outcome outcome = stream({"--stat"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nvmemu: memory: read "), HasSubstr("not limited")));
  EXPECT_TRUE(bandwidth()["by"].is_null());
  EXPECT_GT(samples(), kEnough);
  // What is written is read first, too. A sampler on a busy machine may miss much of it.
  const double moved = std::stod(outcome.out);
  EXPECT_GT(bandwidth()["read_bytes"], 0.1 * moved);
  EXPECT_LT(bandwidth()["read_bytes"], 2 * moved);
  EXPECT_GT(bandwidth()["over_time"]["step_seconds"], 0);
  EXPECT_FALSE(bandwidth()["over_time"]["read_bps"].empty());
  EXPECT_EQ(bandwidth()["held_ns"], 0);
}

TEST_F(BandwidthTest, IsKeptUnderTheTarget) {
  const Outcome outcome = stream({"--read-bandwidth", "1GB/s"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["target"]["read_bandwidth_bps"], 1e9);
  EXPECT_TRUE(report()["target"]["write_bandwidth_bps"].is_null());
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_GT(samples(), kEnough);
  const double read_bytes = bandwidth()["read_bytes"];  // all, but for what a busy machine lets be missed
  EXPECT_GT(read_bytes, 0.1 * std::stod(outcome.out));
  // Whatever it took the bytes for: it did not let them through faster than that.
  EXPECT_GT(report()["wall_seconds"], 0.9 * read_bytes / 1e9);
  EXPECT_GT(bandwidth()["held_ns"], 0);
  EXPECT_THAT(outcome.err, HasSubstr("limited by governor"));
}

TEST_F(BandwidthTest, WithTimersToo) {
  const Outcome outcome = stream({"--read-bandwidth", "1GB/s", "--ticker", "timer"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(samples(), kEnough);
  EXPECT_GT(report()["wall_seconds"], 0.9 * bandwidth()["read_bytes"].get<double>() / 1e9);
  EXPECT_GT(bandwidth()["held_ns"], 0);
}

TEST_F(BandwidthTest, AboveWhatTheMachineReachesIsSaidAndNotApplied) {
  const Outcome outcome = run({"--read-bandwidth", "90TB/s", "--write-bandwidth", "1GB/s", "--report",
                               folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(warnings(), Contains(AllOf(HasSubstr("read bandwidth is not limited"), HasSubstr("90 TB/s"))));
  EXPECT_TRUE(report()["target"]["read_bandwidth_bps"].is_null());
  EXPECT_EQ(report()["target"]["write_bandwidth_bps"], 1e9);
}

TEST_F(BandwidthTest, OfAProfileIsEmulated) {
  const std::string file =
      folder_.write("m.toml", "read_bandwidth = \"1GB/s\"\nwrite_bandwidth = \"500MB/s\"\n");
  const Outcome outcome = run({"--profile", file, "--report", folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["target"]["write_bandwidth_bps"], 5e8);
  EXPECT_EQ(report()["target"]["read_latency_ns"], 100) << "the machine's own";
}

TEST_F(BandwidthTest, WithoutTheToolTakesVariables) {
  environment_["LD_PRELOAD"] = NVMEMU_TEST_PRELOAD;
  environment_["NVMEMU_READ_BANDWIDTH"] = "1GB/s";
  environment_["NVMEMU_REPORT"] = folder_.file("report.json");
  const Outcome outcome = finish(start_program({NVMEMU_TEST_STREAMER}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(bandwidth()["by"], "governor");
  EXPECT_GT(samples(), kEnough);
  EXPECT_GT(bandwidth()["held_ns"], 0);
}

TEST_F(BandwidthTest, MistakesAreRefusedByName) {
  EXPECT_THAT(run({"--read-bandwidth", "1GB/s", "--throttle", "brakes", "--", "true"}).err,
              HasSubstr("--throttle: 'brakes' is not one of auto, governor, hardware"));
  const Outcome node = run({"--read-bandwidth", "1GB/s", "--node", "first", "--", "true"});
  EXPECT_EQ(node.status, 125);
  EXPECT_THAT(node.err, HasSubstr("--node: 'first' is no number of a node"));
}

// Of a design whose counters could tell, those that are not there are made up for by samples, as for latency.
TEST_F(BandwidthTest, CountersThatCannotTellBytesAreRefusedWithTheReason) {
  const Microarchitecture* design = find_events(read_cpu().signature);
  NVMEMU_NEEDS(design != nullptr, "a processor whose events are known");
  const Outcome outcome = run({"--read-bandwidth", "1GB/s", "--source", "pmu", "--", "true"});
  if (design->traffic.counted) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  } else {
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("--source pmu: the counters of "),
                                   HasSubstr(design->traffic.notes), HasSubstr("samples tell")));
  }
}

TEST_F(BandwidthTest, AutoSaysInTheReportWhyItSamples) {
  NVMEMU_NEEDS(!counters_open(), "a machine without hardware counters");
  run({"--stat", "--report", folder_.file("report.json"), "--", "true"});
  EXPECT_EQ(report()["source"]["name"], "sampler");
  EXPECT_THAT(report()["source"]["why"], HasSubstr("hardware counters"));
}

}  // namespace
}  // namespace nvmemu
