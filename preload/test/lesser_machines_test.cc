// SPDX-License-Identifier: Apache-2.0
// As on machines that have less than this one: programs come through, with delays, and the report says by
// what.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test/notified_command.h"
#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

class LesserMachine : public PreloadTest {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
  }
  Outcome run_on(const std::string& machine, const std::vector<std::string>& options_and_command) {
    std::vector<std::string> words{NVMEMU_TEST_LESSER_MACHINE, machine, NVMEMU_TEST_BINARY, "run",
                                   "--base-latency",           "100ns"};
    words.insert(words.end(), options_and_command.begin(), options_and_command.end());
    Outcome outcome = finish(start_program(words));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome;
  }
  void expect_emulated(const std::string& scenario, const std::vector<std::string>& options = {}) {
    EXPECT_EQ(run_on("no-perf", under_emulation(scenario, options)).out, "ok\n");
    const Json whole = report();
    EXPECT_EQ(whole["source"]["ticker"], "posix-timer") << whole["source"];
    EXPECT_NE(whole["warnings"].dump().find("sampled with POSIX timers"), std::string::npos)
        << whole["warnings"];
    // Of 200 ms at least.
    const Json& totals = whole["totals"];
    EXPECT_GE(totals["epochs"], kSomeEpochs) << totals;
    EXPECT_GE(totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>(), 140e6) << totals;
  }
  // Along a list that no cache holds.
  Json report_of_list(const std::string& machine) {
    run_on(machine,
           {"--quiet", "--source", "sampler", "--read-latency", "2x", "--report", folder_.file("report.json"),
            "--", NVMEMU_TEST_TIERS, "chain", "--size", "64MiB", "--steps", "1000000"});
    return report();
  }
};

TEST_F(LesserMachine, WithoutPerfEventEmulatesWithWalks) { expect_emulated("handler-masks"); }
TEST_F(LesserMachine, WithoutPerfEventEmulatesWithoutWalks) {
  expect_emulated("coroutine-stack", {"--no-walks"});
}

constexpr const char* kUnwalked = "cache hits are charged like memory";

// Code is written to one mapping of a file, and run from another.
TEST_F(LesserMachine, WithoutWritableAndExecutableMemoryIsWalkedAllTheSame) {
  const Json whole = report_of_list("no-write-execute");
  EXPECT_GT(whole["walks"]["walks"], 0) << whole;
  EXPECT_EQ(whole["warnings"].dump().find(kUnwalked), std::string::npos) << whole["warnings"];
}

TEST_F(LesserMachine, WithoutExecutableMemoryTheReportSaysHowCacheHitsAreCharged) {
  const Json whole = report_of_list("no-executable-memory");
  EXPECT_EQ(whole["walks"]["walks"], 0) << whole;
  EXPECT_NE(whole["warnings"].dump().find(kUnwalked), std::string::npos) << whole["warnings"];
  EXPECT_GE(whole["totals"]["epochs"], kSomeEpochs) << whole["totals"];
}

}  // namespace
}  // namespace nvmemu
