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
  void expect_emulated(const std::string& scenario, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{NVMEMU_TEST_LESSER_MACHINE, "no-perf", NVMEMU_TEST_BINARY, "run",
                                   "--base-latency",           "100ns"};
    for (const std::string& word : under_emulation(scenario, options)) words.push_back(word);
    const Outcome outcome = finish(start_program(words));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_EQ(outcome.err, "");
    const Json whole = report();
    EXPECT_EQ(whole["source"]["ticker"], "posix-timer") << whole["source"];
    EXPECT_NE(whole["warnings"].dump().find("sampled with POSIX timers"), std::string::npos)
        << whole["warnings"];
    // Of 200 ms at least.
    const Json& totals = whole["totals"];
    EXPECT_GE(totals["epochs"], kSomeEpochs) << totals;
    EXPECT_GE(totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>(), 140e6) << totals;
  }
};

TEST_F(LesserMachine, WithoutPerfEventEmulatesWithWalks) { expect_emulated("handler-masks"); }
TEST_F(LesserMachine, WithoutPerfEventEmulatesWithoutWalks) {
  expect_emulated("coroutine-stack", {"--no-walks"});
}

}  // namespace
}  // namespace nvmemu
