// SPDX-License-Identifier: Apache-2.0
// `nvmemu run --source` and `nvmemu record --source`, where there are no counters, or none any more. What
// runs where there are some: source_guest_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "counters/record/record_reader.h"
#include "host/capabilities.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Some 300 ms of a processor.
constexpr const char* kBusyLoop = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 3";

class SourceTest : public CliTest {
 protected:
  void SetUp() override {
    if (!kDecodes) GTEST_SKIP() << "needs a processor with a sampler";
    if (probe_capabilities().pmu.available) GTEST_SKIP() << "needs a machine without hardware counters";
    CliTest::SetUp();
  }
  Outcome run_by(const char* source, std::vector<std::string> options = {}) {
    std::vector<std::string> words{"--source", source,     "--read-latency",
                                   "2x",       "--report", folder_.file("report.json")};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", kBusyLoop});
    return run(words);
  }
};

constexpr const char* kRefusal = "the hardware counters cannot be used: perf_event_open";

TEST_F(SourceTest, CountersThatWereAskedForAreRefusedWithTheReasonAndTheMend) {
  const Outcome outcome = run_by("pmu");
  EXPECT_EQ(outcome.status, 3) << "the program runs all the same";
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("nvmemu: warning: --source pmu: "), HasSubstr(kRefusal),
                                 HasSubstr("the sampler measures instead"), HasSubstr("to mend it: ")));
  EXPECT_THAT(warnings(), Contains(HasSubstr(kRefusal)));
  EXPECT_EQ(report()["source"]["name"], "sampler");
  EXPECT_THAT(report()["source"]["why"].get<std::string>(), HasSubstr(kRefusal));
  EXPECT_TRUE(report()["source"]["counted_share"].is_null());
  EXPECT_GT(report()["totals"]["samples"], 0);
}

TEST_F(SourceTest, ARefusalIsSaidWhenQuietToo) {
  EXPECT_THAT(run_by("pmu", {"--quiet"}).err, HasSubstr(kRefusal));
}

TEST_F(SourceTest, AutoTakesTheSamplerAndSaysWhyInTheReportOnly) {
  const Outcome outcome = run_by("auto");
  EXPECT_THAT(outcome.err, Not(HasSubstr("hardware counters")));
  EXPECT_EQ(report()["source"]["name"], "sampler");
  EXPECT_THAT(report()["source"]["why"].get<std::string>(), HasSubstr(kRefusal));
}

TEST_F(SourceTest, TheSamplerCanBeAskedFor) {
  run_by("sampler");
  EXPECT_EQ(report()["source"]["why"], "asked for");
}

TEST_F(SourceTest, AModelThatOnlyCountersFeedIsRefusedWithoutThem) {
  const Outcome outcome = run_by("pmu", {"--model", "misses"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("model misses needs misses, and the sampler counts stall time only"));
}

TEST_F(SourceTest, AVerdictThatWasKeptDoesNotStandInForCounters) {
  if (!keep_trusted_verdict()) GTEST_SKIP() << "needs a processor whose events are known";
  EXPECT_THAT(run_by("pmu").err, HasSubstr(kRefusal));
  EXPECT_EQ(report()["source"]["name"], "sampler");
}

TEST_F(SourceTest, ARecordIsMadeBySamplesToo) {
  const Outcome outcome = nvmemu({"record", "--source", "pmu", "--base-latency", "100ns", "-o",
                                  folder_.file("r.nvr"), "--", "sh", "-c", kBusyLoop});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, HasSubstr(kRefusal));
  const auto record = read_record(folder_.file("r.nvr"));
  ASSERT_TRUE(record) << record.error().message;
  EXPECT_EQ(record->info.source, "sampler");
  EXPECT_EQ(record->info.counts, kSamplerCounts);
}

// LD_PRELOAD without the tool.
class PreloadedSourceTest : public SourceTest {
 protected:
  Outcome preloaded(const char* source) {
    environment_["LD_PRELOAD"] = NVMEMU_TEST_LIBRARY;
    environment_["NVMEMU_SOURCE"] = source;
    environment_["NVMEMU_READ_LATENCY"] = "2x";
    environment_["NVMEMU_REPORT"] = folder_.file("report.json");
    // Not the shell, which ends by _exit(2): only who ends by exit(3) can report on itself.
    return finish(start_program({"/usr/bin/awk", "BEGIN { for (i = 0; i < 4000000; i++); exit 3 }"}));
  }
};

TEST_F(PreloadedSourceTest, DoesNotCountByCountersThatHaveNotBeenTested) {
  const Outcome outcome = preloaded("pmu");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("have not been tested"), HasSubstr("run 'nvmemu info'")));
  EXPECT_EQ(report()["source"]["name"], "sampler");
  EXPECT_GT(report()["totals"]["samples"], 0);
}

TEST_F(PreloadedSourceTest, AutoSaysNothingOfThat) {
  EXPECT_THAT(preloaded("auto").err, Not(HasSubstr("tested")));
  EXPECT_THAT(report()["source"]["why"].get<std::string>(), HasSubstr("have not been tested"));
}

// Counters may be taken away between their test and a thread's beginning.
TEST_F(PreloadedSourceTest, SamplesThreadsThatAreRefusedTheirCounters) {
  if (!keep_trusted_verdict()) GTEST_SKIP() << "needs a processor whose events are known";
  const Outcome outcome = preloaded("pmu");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(report()["source"]["name"], "sampler");
  EXPECT_THAT(report()["source"]["why"].get<std::string>(), HasSubstr("refused"));
  EXPECT_THAT(warnings(), Contains(HasSubstr("hardware counters were refused to some threads")));
  EXPECT_GT(report()["totals"]["samples"], 0);
  EXPECT_GE(report()["totals"]["epochs"], 1);
}

TEST_F(PreloadedSourceTest, RunsNativelyWhereTheSamplerCannotFeedTheModel) {
  if (!keep_trusted_verdict()) GTEST_SKIP() << "needs a processor whose events are known";
  environment_["NVMEMU_MODEL"] = "misses";
  EXPECT_EQ(preloaded("pmu").status, 3);
  EXPECT_EQ(report()["totals"]["cpu_ns"], 0);
  EXPECT_THAT(warnings(), Contains(HasSubstr("ran natively")));
}

}  // namespace
}  // namespace nvmemu
