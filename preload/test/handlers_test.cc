// SPDX-License-Identifier: Apache-2.0
// Programs with handlers of their own: delays come all the same, and are booked once. See guest_handlers.cc
// and guest_left_handlers.cc.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "host/test/needs.h"
#include "preload_cli.h"

namespace nvmemu {
namespace {

// Whatever this machine's caches hold.
const std::vector<std::string> kAllLoadsWait{"--no-walks"};

class StillDelayed : public PreloadTest, public testing::WithParamInterface<const char*> {};

TEST_P(StillDelayed, ToTheEnd) {
  expect_ok(GetParam(), kAllLoadsWait);
  // Of 500 ms at the end, and what made the list.
  const Json totals = report()["totals"];
  EXPECT_GE(totals["epochs"], kSomeEpochs) << totals;
  EXPECT_GE(totals["injected_ns"], 50e6) << totals;
  EXPECT_GE(totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>(), 160e6) << totals;
}

INSTANTIATE_TEST_SUITE_P(Programs, StillDelayed,
                         testing::Values("old-signals", "raw-signals", "blocked-as-seen",
                                         "masks-end-with-handlers", "thrown-from-fault", "thrown-from-alarm",
                                         "handler-masks", "jumps-from-handlers"));

class ByTicker : public PreloadTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    PreloadTest::SetUp();
    if (std::string_view(GetParam()) == "perf") NVMEMU_NEEDS_PERF_EVENTS();
  }
};

// The program tells how much CPU time it had, which is its own and delays.
TEST_P(ByTicker, WhatAJumpOutOfADelayLeavesIsBookedOnce) {
  const Outcome outcome = guest("jumps-from-handlers", {"--ticker", GetParam()});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const double cpu_ns = std::stod(outcome.out);
  const Json totals = report()["totals"];
  const double booked_ns = totals["cpu_ns"].get<double>() + totals["injected_ns"].get<double>();
  EXPECT_NEAR(booked_ns / cpu_ns, 1, 0.1) << cpu_ns << " ns; " << totals;
}

TEST_P(ByTicker, WhereItIsLostTheReportSaysSo) {
  for (const char* scenario : {"ticks-blocked-behind-its-back", "ticks-ignored-behind-its-back"}) {
    expect_ok(scenario, {"--ticker", GetParam()});
    EXPECT_NE(report()["warnings"].dump().find("samples stand for"), std::string::npos) << report();
    EXPECT_TRUE(report()["error"]["relative_95"].is_null()) << report()["error"];
  }
}

INSTANTIATE_TEST_SUITE_P(Tickers, ByTicker, testing::Values("perf", "timer"));

TEST_F(PreloadTest, AThreadThatWaitsForTheTicksSignalRunsNativelyOnceItCame) {
  expect_ok("waited-for-window-changes");
  EXPECT_NE(report()["warnings"].dump().find("SIGWINCH"), std::string::npos) << report();
}

// Each has a sample in every millisecond, of 6 ms and more: not the first one alone.
TEST_F(PreloadTest, SignalsOfTheProgramsLoseNoThreadItsFirstTick) {
  NVMEMU_NEEDS_PERF_EVENTS();
  expect_ok("raises-from-the-first", {"--ticker", "perf"});
  const Json process = report()["processes"][0];
  for (const Json& thread : process["threads"]) {
    if (thread["tid"] == process["pid"]) continue;
    EXPECT_GE(thread["samples"], 2) << thread;
  }
}

TEST_F(PreloadTest, WhereTicksOfOneThreadAreLostTheReportSaysSo) {
  expect_ok("ticks-blocked-in-one-of-four");
  // A quarter of all time, which is not missed in the sum. Where others take the processors away, other
  // threads lose ticks, too.
  EXPECT_NE(report()["warnings"].dump().find("samples stand for"), std::string::npos) << report();
  EXPECT_TRUE(report()["error"]["relative_95"].is_null()) << report()["error"];
}

}  // namespace
}  // namespace nvmemu
