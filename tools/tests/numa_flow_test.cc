// SPDX-License-Identifier: Apache-2.0
// nvmemu validate against another node's memory, on a kernel with two nodes. How slow that memory is does not
// matter here, and so latencies are given: an emulated machine (tools/test --guest) has nodes that are
// equally fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "cli.h"
#include "host/cpu.h"

namespace nvmemu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class NumaFlow : public CliTest {
 protected:
  void SetUp() override {
    if (read_cpu().numa_nodes < 2) GTEST_SKIP() << "needs two NUMA nodes";
    CliTest::SetUp();
  }

  Outcome validate(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"validate", "--quick", "--size", "32MiB", "--node-latencies",
                                         "300ns,600ns", "--json", folder_.file("result.json")});
    return nvmemu(arguments);
  }
  json result() const { return json::parse(folder_.read("result.json")); }

  // That its truth is a native run on the other node's memory, and that the kernel said where each run's
  // memory was.
  static void expect_measured_on_both_nodes(const json& row, double far_share = 1) {
    const std::string name = row["workload"];
    EXPECT_EQ(row["truth"], "numa") << name;
    EXPECT_TRUE(row["failure"].is_null()) << name << ": " << row["failure"];
    EXPECT_TRUE(row["skipped"].is_null()) << name << ": " << row["skipped"];
    EXPECT_EQ(row["target_read_latency_ns"], 600) << name;
    ASSERT_GE(row["samples"].size(), 1u) << name;
    for (const json& sample : row["samples"]) {
      EXPECT_EQ(sample["base_read_latency_ns"], 300) << name;
      EXPECT_GT(sample["truth_seconds"], 0) << name;
      EXPECT_NEAR(sample["truth_share_on_node"], far_share, 0.05) << name;
      EXPECT_GE(sample["emulated_share_on_node"], 0.95) << name;
    }
  }
};

TEST_F(NumaFlow, ComparesWorkloadsWithTheOtherNodesMemory) {
  const Outcome outcome = validate({"--truth", "numa", "--workload", "1 chain,hash chains"});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("numa: the same program, native, on another node's memory"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("closed-form: ")));
  const json written = result();
  EXPECT_NE(written["machine"]["numa"]["processors"], written["machine"]["numa"]["memory"]);
  EXPECT_EQ(written["machine"]["numa"]["given_latencies_ns"], json::parse("[300, 600]"));
  unsigned in_halves = 0;
  for (const json& row : written["rows"]) {
    const bool is_half = row["workload"].get<std::string>().ends_with("half of the pages far");
    expect_measured_on_both_nodes(row, is_half ? 0.5 : 1);
    in_halves += is_half ? 1 : 0;
  }
  EXPECT_EQ(written["rows"].size(), 4u);  // the chase also in small pages, and half of them far
  EXPECT_EQ(in_halves, 1u);
}

TEST_F(NumaFlow, ComparesACommandInBothConfigurations) {
  const Outcome outcome = validate({"--", NVMEMU_TEST_CHASE, "--size", "32MiB", "--loads", "4000000"});
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  ASSERT_EQ(result()["rows"].size(), 1u);
  expect_measured_on_both_nodes(result()["rows"][0]);
}

TEST_F(NumaFlow, SaysByItsStatusThatAnErrorIsAboveWhatIsAllowed) {
  const Outcome outcome = validate({"--truth", "numa", "--workload", "random walk", "--max-error", "0.01"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("numa: the error of 'random walk'"));
}

TEST_F(NumaFlow, OfACommandThatFailsIsAFailure) {
  const Outcome outcome = validate({"--", NVMEMU_TEST_CHASE, "--no-such-option"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("none: 1 of 1 rows failed"));
}

}  // namespace
}  // namespace nvmemu
