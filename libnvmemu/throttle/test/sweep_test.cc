// SPDX-License-Identifier: Apache-2.0
#include "throttle/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "throttle/test/fake_machine.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    auto throttle = ThermalThrottle::open(machine_.root());
    ASSERT_TRUE(throttle) << throttle.error().message;
    throttle_ = *std::move(throttle);
    // A memory whose bandwidth follows what is in the register of node 1's first channel.
    options_.measure = [this](int node) -> Result<Figure> {
      EXPECT_EQ(node, 1);
      ++measured_;
      const double limit = machine_.word("0000:ff:14.0", 0x190) & kThrottleLimit;
      return Figure{std::min(25e9, limit * 50e6), 0.01};
    };
  }

  FakeMachine machine_;
  const std::vector<std::uint16_t> firmware_ = machine_.registers();
  std::unique_ptr<ThermalThrottle> throttle_;
  SweepOptions options_;
  int measured_ = 0;
};

TEST_F(SweepTest, MeasuresAtEachValueAndRestores) {
  const auto curve = sweep(*throttle_, 1, options_);
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->points.size(), SweepOptions::default_values().size());
  EXPECT_NEAR(curve->slope_bps, 50e6, 2.5e6);
  EXPECT_EQ(curve->highest_bps, 25e9);
  EXPECT_NEAR(value_for(*curve, 10e9).value_or(-1), 200, 10);
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(SweepTest, StopsWhenAskedAndRestores) {
  options_.stop = [this] { return measured_ == 3; };
  const auto curve = sweep(*throttle_, 1, options_);
  ASSERT_FALSE(curve);
  EXPECT_THAT(curve.error().message, HasSubstr("interrupted"));
  EXPECT_EQ(machine_.registers(), firmware_);
}

TEST_F(SweepTest, RestoresWhereAMeasurementFails) {
  options_.measure = [](int) -> Result<Figure> { return failure("too little memory"); };
  EXPECT_FALSE(sweep(*throttle_, 1, options_));
  EXPECT_EQ(machine_.registers(), firmware_);
}

}  // namespace
}  // namespace nvmemu
