// SPDX-License-Identifier: Apache-2.0
#include "run/stop.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "base/clock.h"

namespace nvmemu::pmbench {
namespace {

TEST(StopTest, WaitsForSoLong) {
  const Stop stop;
  const std::uint64_t begin_ns = monotonic_raw_ns();
  EXPECT_FALSE(stop.wait(0.02));
  EXPECT_GE(monotonic_raw_ns() - begin_ns, 20'000'000);
  EXPECT_FALSE(stop.wait(-1));
}

TEST(StopTest, ASignalEndsTheWait) {
  Stop stop;
  const StopSignals signals(stop);
  std::thread other([main = pthread_self()] { pthread_kill(main, SIGINT); });
  EXPECT_TRUE(stop.wait(3600));
  other.join();
  EXPECT_TRUE(stop.requested());
}

// However closely before the wait.
TEST(StopTest, ASignalBeforeTheWaitEndsItAtOnce) {
  Stop stop;
  const StopSignals signals(stop);
  raise(SIGTERM);
  EXPECT_TRUE(stop.wait(3600));
}

TEST(StopTest, WhatWasIgnoredStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  Stop stop;
  {
    const StopSignals signals(stop);
    raise(SIGHUP);
    EXPECT_FALSE(stop.requested());
  }
  EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace nvmemu::pmbench
