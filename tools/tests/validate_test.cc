// SPDX-License-Identifier: Apache-2.0
// nvmemu validate on the command line. What it measures is not judged here: that depends on the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli.h"
#include "host/cpu.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class ValidateTest : public CliTest {
 protected:
  // What stands in for each validation program: prints figures as if it had run for so many seconds.
  std::string programs_that_take(const std::string& native_seconds, const std::string& emulated_seconds) {
    const std::string script = R"(#!/bin/sh
emulated=false; seconds=)" + native_seconds +
                               R"(
case "$LD_PRELOAD" in *nvmemu*) emulated=true; seconds=)" +
                               emulated_seconds + R"(;; esac
echo "{\"emulated\": $emulated, \"seconds\": $seconds, \"operations\": 1000000,
  \"timed_operations\": 1000000, \"accesses\": 2000000,
  \"accesses_from_memory\": 1000000, \"checksum\": \"7\", \"huge_pages\": true}"
)";
    folder_.write("programs/nvmemu-workload", script, 0755);
    return folder_.file("programs");
  }
  Outcome validate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "validate");
    return nvmemu(arguments);
  }
};

TEST_F(ValidateTest, ListsWorkloadsAndTheirTruths) {
  const Outcome outcome = validate({"--list"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("closed-form   chase, 1 chain\n"));
  EXPECT_THAT(outcome.out, HasSubstr("per-access    union-find\n"));
  EXPECT_THAT(outcome.out, HasSubstr("cache-tier    chase\n"));
  EXPECT_THAT(outcome.out, HasSubstr("(limit)"));
}

TEST_F(ValidateTest, RefusesWhatIsNoTruth) {
  const Outcome outcome = validate({"--truth", "numa,exact"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--truth: 'exact' is not a truth"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: "));
}

TEST_F(ValidateTest, RefusesAWorkloadThatIsNone) {
  const Outcome outcome = validate({"--workload", "no such thing"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--list"));
}

TEST_F(ValidateTest, RefusesAWorkloadThatIsNoneBesideOneThatIs) {
  const Outcome outcome = validate({"--workload", "list,no such thing"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--workload: 'no such thing' is no workload"));
}

TEST_F(ValidateTest, SaysBeforeItMeasuresWhatItCannotWrite) {
  for (const char* option : {"--json", "--csv", "--svg"}) {
    const Outcome outcome = validate({option, "/proc/no/such/place"});
    EXPECT_EQ(outcome.status, 125);
    EXPECT_THAT(outcome.err, StartsWith(std::string("nvmemu: error: ") + option + ": cannot ")) << option;
  }
}

// A preload library that does nothing: what the job in continuous integration is to notice.
TEST_F(ValidateTest, FailsWhereNothingIsInjected) {
  const Outcome outcome = validate({"--quick", "--truth", "per-access", "--workload", "list", "--programs",
                                    programs_that_take("0.5", "0.5"), "--max-mean", "20"});
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("the mean error of"));
}

TEST_F(ValidateTest, RefusesQuickAndFullTogether) { EXPECT_EQ(validate({"--quick", "--full"}).status, 125); }

TEST_F(ValidateTest, SaysWhichProgramsAreMissing) {
  const Outcome outcome = validate({"--programs", folder_.file("nowhere")});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("nvmemu-workload"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: "));
}

TEST_F(ValidateTest, OfACommandOnOneNodeSaysWhatIsMissing) {
  if (read_cpu().numa_nodes > 1) GTEST_SKIP() << "needs a machine with one NUMA node";
  const Outcome outcome = validate({"--", "true"});
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("NUMA node"));
  EXPECT_THAT(outcome.err, HasSubstr("hint: "));
}

TEST_F(ValidateTest, RefusesLatenciesOfNodesThatMakeNoSense) {
  const auto refused = [&](const std::string& latencies) {
    const Outcome outcome = validate({"--list", "--node-latencies", latencies});
    EXPECT_EQ(outcome.status, 125) << latencies;
    EXPECT_THAT(outcome.err, testing::AnyOf(HasSubstr("hint: "), HasSubstr("write 300ns"))) << latencies;
    return outcome.err;
  };
  EXPECT_THAT(refused("90ns"), HasSubstr("'90ns' is not two latencies"));
  EXPECT_THAT(refused("90ns,140ns,200ns"), HasSubstr("is not two latencies"));
  EXPECT_THAT(refused("90ns,fast"), HasSubstr("--node-latencies: 'fast'"));
  EXPECT_THAT(refused("140ns,90ns"), HasSubstr("is not slower than"));
  EXPECT_EQ(validate({"--list", "--node-latencies", "90ns,140ns"}).status, 0);
}

TEST_F(ValidateTest, RefusesASetThatIsTooSmallAndWarnsOfOneInTheCache) {
  EXPECT_THAT(validate({"--list", "--size", "64KiB"}).err, HasSubstr("--size: 64 KiB is too small"));
  EXPECT_EQ(validate({"--list", "--size", "much"}).status, 125);
  const Outcome outcome = validate({"--list", "--size", "2MiB"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("in the last-level cache"));
}

TEST_F(ValidateTest, ThatMeasuredNothingHasNotSucceeded) {
  if (read_cpu().numa_nodes > 1) GTEST_SKIP() << "needs a machine with one NUMA node";
  const Outcome outcome = validate({"--truth", "numa"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("skipped: all workloads: this machine has one NUMA node"));
  EXPECT_THAT(outcome.err, HasSubstr("nothing was measured"));
}

// The base latency is measured anew for each run, so that only what does not rest on it is exact here.
TEST_F(ValidateTest, MeasuresAndWritesWhatItFound) {
  const Outcome outcome = validate({"--quick", "--truth", "per-access", "--workload", "list", "--programs",
                                    programs_that_take("1", "1.3"), "--json", folder_.file("result.json"),
                                    "--csv", folder_.file("result.csv")});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("1 experiment, 1 round each"));
  EXPECT_THAT(outcome.out, StartsWith("per-access: "));
  EXPECT_THAT(outcome.out, HasSubstr("NVMpro"));
  const json result = json::parse(folder_.read("result.json"));
  EXPECT_EQ(result["schema"], "nvmemu-validation-1");
  const json& row = result["rows"][0];
  EXPECT_EQ(row["workload"], "list");
  EXPECT_EQ(row["loads"], 1e6);
  EXPECT_EQ(row["native_seconds"], 1);
  EXPECT_EQ(row["emulated_seconds"], 1.3);
  EXPECT_THAT(folder_.read("result.csv"), HasSubstr("per-access,list,error,"));
}

TEST_F(ValidateTest, FailsWhereAnErrorIsAboveWhatIsAllowed) {
  const Outcome outcome = validate({"--quick", "--truth", "per-access", "--workload", "list", "--programs",
                                    programs_that_take("1", "1000"), "--max-error", "50"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the error of 'list'"));
}

TEST_F(ValidateTest, FailsWhereARunFails) {
  folder_.write("programs/nvmemu-workload", "#!/bin/sh\necho broken >&2\nexit 9\n", 0755);
  const Outcome outcome = validate(
      {"--quick", "--truth", "per-access", "--workload", "list", "--programs", folder_.file("programs")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("FAILED: list, 500 ns: "));
  EXPECT_THAT(outcome.out, HasSubstr("exit status 9: broken"));
  EXPECT_THAT(outcome.out, HasSubstr("none: 1 of 1 rows failed"));
}

TEST_F(ValidateTest, RunsTheRealPrograms) {
  const Outcome outcome = validate(
      {"--quick", "--truth", "per-access", "--workload", "random walk", "--json", folder_.file("r.json")});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json row = json::parse(folder_.read("r.json"))["rows"][0];
  EXPECT_GT(row["loads"], 0);
  EXPECT_GT(row["samples"][0]["injected_ns"], 0);
}

}  // namespace
}  // namespace nvmemu
