// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/ticker/cpu_lap.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(CpuLap, TakesWhatHasPassedSinceTheLastReading) {
  CpuLap lap;
  lap.restart(1000);
  EXPECT_EQ(lap.take(1500), 500);
  EXPECT_EQ(lap.take(1600), 100);
}

TEST(CpuLap, NothingPassesWhereAReadingIsRefused) {
  CpuLap lap;
  lap.restart(1000);
  EXPECT_EQ(lap.take(0), 0);
  EXPECT_EQ(lap.take(5000), 0);  // since an unknown moment
  EXPECT_EQ(lap.take(5100), 100);
  lap.restart(0);
  EXPECT_EQ(lap.take(9000), 0);
}

TEST(CpuLap, AClockThatGoesBackTakesNothing) {
  CpuLap lap;
  lap.restart(1000);
  EXPECT_EQ(lap.take(900), 0);
}

}  // namespace
}  // namespace nvmemu
