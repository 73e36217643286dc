// SPDX-License-Identifier: Apache-2.0
// How often `nvmemu run` samples, by what it has to add and by what samples take on this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "cli.h"
#include "host/calibration.h"
#include "host/test/needs.h"

namespace nvmemu {
namespace {

using nlohmann::json;

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

  // Of a run of a second that never waits, by a calibration in which a sample takes that.
  double share_of_samples(double sample_cost_ns) {
    Calibration calibration = hand_made_calibration();
    calibration.sample_cost_ns = calibration.sample_stall_cost_ns = sample_cost_ns;
    const auto stored = store_calibration(calibration, calibration_path());
    EXPECT_TRUE(stored) << stored.error().message;
    const Outcome outcome = run({"--read-latency", "2x", "--source", "sampler", "--report",
                                 folder_.file("report.json"), "--", NVMEMU_TEST_BURNER, "1000"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const json totals = report()["totals"];
    return totals["samples"].get<double>() * sample_cost_ns / totals["cpu_ns"].get<double>();
  }
};

// 0.5 % in the long run, and 6 ms at first; and half of what seems to wait until it is known: up to 2 % of
// the time where neighbours interrupt the loads around its calls of the clock. At the finest it would be 6 %.
TEST_F(EffortTest, TakesLittleOfWhatNeverWaitsWhateverASampleTakes) {
  NVMEMU_NEEDS_PERF_EVENTS();
  EXPECT_LT(share_of_samples(2e3), 0.004);
  EXPECT_GT(share_of_samples(2e3), 0.001) << "as many as of what waits: they are cheap";
  std::array<double, 3> dear{};
  for (double& share : dear) share = share_of_samples(60e3);
  std::ranges::sort(dear);
  EXPECT_LT(dear[1], 0.03);
}

// Up to four times as seldom after the first of five epochs or more.
TEST_F(EffortTest, IsLessWhereLittleIsToBeAdded) {
  NVMEMU_NEEDS_PERF_EVENTS();
  EXPECT_LT(samples_at("1.25x"), 0.75 * samples_at("2x"));
}

}  // namespace
}  // namespace nvmemu
