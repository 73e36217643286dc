// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "host/calibrate.h"
#include "host/drift.h"

namespace nvmemu {
namespace {

TEST(FollowDrift, LeavesTheBaseWhereNothingChanged) {
  EXPECT_DOUBLE_EQ(follow_drift(200, 170, 170, 0.05), 200);
}

TEST(FollowDrift, IgnoresARiseWithinTheWobble) {
  EXPECT_NEAR(follow_drift(200, 170, 170 * 1.15, 0.04), 200, 1);
  EXPECT_NEAR(follow_drift(200, 170, 170 * 1.50, 2.00), 200, 1);  // a disturbed measurement says little
}

TEST(FollowDrift, FollowsAFallThatIsMoreThanNoise) {
  EXPECT_NEAR(follow_drift(200, 170, 170 * 0.85, 0.04), 170, 1);
  EXPECT_NEAR(follow_drift(200, 170, 170 * 0.95, 0.04), 190, 1);
  EXPECT_NEAR(follow_drift(200, 170, 170 * 0.99, 0.08), 200, 1);
  EXPECT_DOUBLE_EQ(follow_drift(200, 100, 90, 0), 180);
}

TEST(FollowDrift, FollowsALargeChange) {
  EXPECT_NEAR(follow_drift(200, 170, 170 * 1.90, 0.04), 380, 10);
  EXPECT_NEAR(follow_drift(200, 170, 170 * 0.50, 0.04), 100, 30);
}

TEST(FollowDrift, NeverGoesTheOtherWayNorFurther) {
  for (double ratio = 0.6; ratio < 1.8; ratio += 0.01) {
    const double followed = follow_drift(200, 100, 100 * ratio, 0.1) / 200;
    EXPECT_GE(followed, std::min(1.0, ratio) - 1e-12) << ratio;
    EXPECT_LE(followed, std::max(1.0, ratio) + 1e-12) << ratio;
  }
}

TEST(FollowDrift, StaysWithinHalfAndDouble) {
  EXPECT_DOUBLE_EQ(follow_drift(200, 100, 10000, 0), 400);
  EXPECT_DOUBLE_EQ(follow_drift(200, 10000, 100, 0), 100);
}

TEST(FollowDrift, WithoutAShortChaseTheBaseStands) {
  EXPECT_DOUBLE_EQ(follow_drift(200, 0, 170, 0.05), 200);
  EXPECT_DOUBLE_EQ(follow_drift(200, 170, 0, 0.05), 200);
}

TEST(RefreshBaseLatency, MeasuresAndStaysNearTheCalibration) {
  Calibration calibration;
  calibration.base_latency_ns = 200;
  calibration.short_chase_ns = 170;
  const auto refresh = refresh_base_latency(calibration, Clock::calibrate());
  ASSERT_TRUE(refresh) << refresh.error().message;
  EXPECT_GT(refresh->short_chase_ns, 10);
  EXPECT_GE(refresh->spread, 0);
  EXPECT_GE(refresh->base_latency_ns, 100);
  EXPECT_LE(refresh->base_latency_ns, 400);
}

}  // namespace
}  // namespace nvmemu
