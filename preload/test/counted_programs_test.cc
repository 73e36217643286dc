// SPDX-License-Identifier: Apache-2.0
// Programs that hardware counters measure. Whether these counters are right does not matter to most of it: an
// emulated arm64 machine, whose memory events count nothing, will do (tools/test --guest). Where none can be
// opened, all of it is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "counters/record/record_reader.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;

class CountedProgram : public CliTest {
 protected:
  void SetUp() override {
    if (!counters_open()) GTEST_SKIP() << "needs hardware counters";
    CliTest::SetUp();
  }
  Outcome guest(const std::string& scenario, std::vector<std::string> options = {}) {
    options.insert(options.end(),
                   {"--quiet", "--read-latency", "5x", "--source", "pmu", "--epoch", "10ms", "--report",
                    folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, scenario});
    return run(options);
  }
};

class TrustedCounters : public CountedProgram {
 protected:
  void SetUp() override {
    CountedProgram::SetUp();
    if (!IsSkipped()) {
      ASSERT_TRUE(keep_trusted_verdict());
    }
  }
};

class CountersLeaveAlone : public TrustedCounters, public testing::WithParamInterface<const char*> {};

TEST_P(CountersLeaveAlone, TheProgram) {
  const Outcome outcome = guest(GetParam());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("ok\n")) << outcome.out;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(report()["source"]["name"], "pmu") << report();
}

INSTANTIATE_TEST_SUITE_P(Programs, CountersLeaveAlone,
                         testing::Values("own-signals", "own-faults", "blocked-signals", "errno", "sleep",
                                         "spawn", "threads", "fork", "exec", "burn", "alternate-stacks",
                                         "alarms", "c11-threads", "cloned-threads", "unseen-thread",
                                         "cloned-process", "own-thread-pointer", "llvm-openmp"));

TEST_F(TrustedCounters, SeeTheWholeRun) {
  guest("burn");
  const json run = report();
  EXPECT_GE(run["source"]["counted_share"], 0.9);
  EXPECT_TRUE(run["source"]["design"].is_string());
  EXPECT_GE(run["totals"]["cpu_ns"], 100e6);
  EXPECT_GE(run["totals"]["epochs"], 2);
  EXPECT_EQ(run["totals"]["samples"], 0);
}

TEST_F(TrustedCounters, SeeEveryThread) {
  guest("threads");
  const json run = report();
  EXPECT_GE(run["source"]["counted_share"], 0.9);
  for (const json& thread : run["processes"][0]["threads"]) {
    EXPECT_GE(thread["epochs"], 1) << thread;
    EXPECT_TRUE(thread["ended"]) << thread;
  }
}

TEST_F(TrustedCounters, FeedMoreModelsThanTheSampler) {
  const Outcome outcome = guest("burn", {"--model", "misses"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(report()["model"], "misses");
}

TEST_F(TrustedCounters, EndEpochsByPosixTimersToo) {
  guest("burn", {"--ticker", "timer"});
  EXPECT_EQ(report()["source"]["ticker"], "posix-timer");
  EXPECT_GE(report()["totals"]["epochs"], 2);
}

TEST_F(TrustedCounters, AreRecorded) {
  const Outcome outcome = nvmemu({"record", "--source", "pmu", "--base-latency", "100ns", "--epoch", "10ms",
                                  "-o", folder_.file("r.nvr"), "--", NVMEMU_TEST_GUEST, "burn"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto record = read_record(folder_.file("r.nvr"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->info.source, "pmu");
  EXPECT_NE(record->info.counts & kCountsMisses, 0U);
  double counted_ns = 0;
  for (const RecordedEpoch& epoch : record->epochs) {
    counted_ns += epoch.counts.counted_ns;
  }
  EXPECT_GE(counted_ns, 50e6);
}

// Counters that open, and count zeros.
class LyingCounters : public CountedProgram {
 protected:
  void SetUp() override {
    CountedProgram::SetUp();
    if (IsSkipped()) return;
    counters_ = json::parse(nvmemu({"info", "--json"}).out)["counters"];
    if (counters_["trusted"].get<bool>()) GTEST_SKIP() << "needs counters that are wrong";
  }
  json counters_;
};

TEST_F(LyingCounters, AreRefusedWithTheirFigures) {
  EXPECT_THAT(counters_["why"].get<std::string>(),
              AnyOf(HasSubstr("misses counted for each load of a chase"),
                    HasSubstr("cycles counted as stalls"), HasSubstr("cycles a ns counted")));
  EXPECT_NE(counters_["mend"], "");
  EXPECT_NE(json::parse(nvmemu({"info", "--json"}).out)["emulation"]["source"]["name"], "pmu");
}

TEST_F(LyingCounters, AreNotWhatEventsNamesAsUsed) {
  const json events = json::parse(nvmemu({"events", "--json"}).out);
  EXPECT_THAT(events["used"].get<std::string>(), HasSubstr("not to be trusted"));
}

TEST_F(LyingCounters, AreNotUsedThoughAskedFor) {
  const Outcome outcome = guest(kDecodes ? "burn" : "native");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("--source pmu: the hardware counters are not to be trusted"));
  EXPECT_EQ(report()["source"]["name"], kDecodes ? "sampler" : "none");
  EXPECT_TRUE(report()["source"]["counted_share"].is_null());
}

// Without a sampler to take their place.
TEST_F(LyingCounters, LeaveTheProgramNativeWhereNoSamplerDecodes) {
  if (kDecodes) GTEST_SKIP() << "needs a processor without a sampler";
  const Outcome outcome = run(
      {"--read-latency", "5x", "--report", folder_.file("report.json"), "--", NVMEMU_TEST_GUEST, "native"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("the program runs natively: "));
  EXPECT_THAT(outcome.err, HasSubstr("no sampler decodes this processor's code yet"));
  EXPECT_EQ(report()["processes"], json::array());
  EXPECT_TRUE(report()["target"]["read_latency_ns"].is_null());
  EXPECT_EQ(nvmemu({"record", "-o", folder_.file("r.nvr"), "--", NVMEMU_TEST_GUEST, "native"}).status, 125);
}

}  // namespace
}  // namespace nvmemu
