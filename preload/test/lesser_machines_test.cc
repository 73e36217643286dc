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

struct Machine {
  const char* lack;
  const char* ticker;  // in the report
  bool is_warned_of;
};
void PrintTo(const Machine& machine, std::ostream* out) { *out << machine.lack; }

class LesserMachine : public PreloadTest, public testing::WithParamInterface<Machine> {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    NVMEMU_NEEDS(can_be_notified(), "a seccomp notifier of its own");
    NVMEMU_NEEDS_PERF_EVENTS();
  }
  void expect_emulated(const std::string& scenario, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{NVMEMU_TEST_LESSER_MACHINE, GetParam().lack, NVMEMU_TEST_BINARY, "run",
                                   "--base-latency",           "100ns"};
    for (const std::string& word : under_emulation(scenario, options)) words.push_back(word);
    const Outcome outcome = finish(start_program(words));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ok\n");
    EXPECT_EQ(outcome.err, "");
    const Json whole = report();
    EXPECT_EQ(whole["source"]["ticker"], GetParam().ticker) << whole["source"];
    const bool is_warned_of = whole["warnings"].dump().find("sampled with POSIX timers") != std::string::npos;
    EXPECT_EQ(is_warned_of, GetParam().is_warned_of) << whole["warnings"];
    // Of 200 ms at least.
    const Json& totals = whole["totals"];
    EXPECT_GE(totals["epochs"], kSomeEpochs) << totals;
    EXPECT_GE(totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>(), 140e6) << totals;
  }
};

TEST_P(LesserMachine, EmulatesWithWalks) { expect_emulated("handler-masks"); }
TEST_P(LesserMachine, EmulatesWithoutWalks) { expect_emulated("coroutine-stack", {"--no-walks"}); }

INSTANTIATE_TEST_SUITE_P(Machines, LesserMachine,
                         testing::Values(Machine{"no-perf", "posix-timer", true},
                                         Machine{"no-breakpoints", "perf_event", false},
                                         Machine{"deaf-breakpoints", "perf_event", false}));

}  // namespace
}  // namespace nvmemu
