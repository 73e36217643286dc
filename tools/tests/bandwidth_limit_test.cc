// SPDX-License-Identifier: Apache-2.0
#include "bandwidth_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr NativeBandwidth kNative{20e9, 15e9};

TEST(NativeBandwidth, OfACopyIsWhatItReads) {
  Calibration calibration;
  calibration.read_bandwidth_all_bps = 18e9;
  calibration.copy_bandwidth_all_bps = 22e9;
  EXPECT_EQ(native_bandwidth(calibration).read_bps, 22e9);
  calibration.read_bandwidth_all_bps = 25e9;
  EXPECT_EQ(native_bandwidth(calibration).read_bps, 25e9);
  EXPECT_EQ(native_bandwidth(calibration).write_bps, 22e9);
}

TEST(Reachable, KeepsWhatIsBelow) {
  std::vector<std::string> warnings;
  const BandwidthTarget target = reachable({19e9, 1e9}, kNative, warnings);
  EXPECT_EQ(target.read_bps, 19e9);
  EXPECT_EQ(target.write_bps, 1e9);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Reachable, KeepsWhatAnotherMeasurementMightReach) {
  std::vector<std::string> warnings;
  EXPECT_EQ(reachable({21e9, 0}, kNative, warnings).read_bps, 21e9);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Reachable, DropsWhatIsAboveAndSaysSo) {
  std::vector<std::string> warnings;
  const BandwidthTarget target = reachable({30e9, 1e9}, kNative, warnings);
  EXPECT_EQ(target.read_bps, 0);
  EXPECT_EQ(target.write_bps, 1e9);
  EXPECT_THAT(warnings, ElementsAre(AllOf(HasSubstr("read bandwidth is not limited"), HasSubstr("30 GB/s"),
                                          HasSubstr("20 GB/s"))));
}

TEST(Reachable, WhatNobodyAskedForIsNotWarnedOf) {
  std::vector<std::string> warnings;
  EXPECT_FALSE(reachable({}, kNative, warnings).limits());
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Reachable, OfAMachineThatIsNotKnownIsAsked) {
  std::vector<std::string> warnings;
  EXPECT_EQ(reachable({1e15, 0}, {}, warnings).read_bps, 1e15);
}

}  // namespace
}  // namespace nvmemu
