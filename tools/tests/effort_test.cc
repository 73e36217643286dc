// SPDX-License-Identifier: Apache-2.0
// How often `nvmemu run` samples, by what it has to add.
#include <gtest/gtest.h>

#include "cli.h"
#include "host/capabilities.h"

namespace nvmemu {
namespace {

class EffortTest : public CliTest {
 protected:
  // Of a run that waits for memory all the time.
  double samples_at(const char* read_latency) {
    const Outcome outcome =
        run({"--read-latency", read_latency, "--source", "sampler", "--report", folder_.file("report.json"),
             "--", NVMEMU_TEST_CHASE, "--size", "64MiB", "--loads", "5000000"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return report()["totals"]["samples"];
  }
};

// Up to four times as seldom after the first of five epochs or more.
TEST_F(EffortTest, IsLessWhereLittleIsToBeAdded) {
  if (!probe_capabilities().task_clock.available)
    GTEST_SKIP() << "needs perf_event_open(2), which is refused here";
  EXPECT_LT(samples_at("1.25x"), 0.75 * samples_at("2x"));
}

}  // namespace
}  // namespace nvmemu
