// SPDX-License-Identifier: Apache-2.0
#include "throttle/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/test/fake_root.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

using testing::HasSubstr;

constexpr double kPerCommand = 100e6;  // bytes a second for each unit of the register
constexpr double kHighest = 20e9;

// As the paper's figure 3: linear, then flat; every other point `noise` too high.
std::vector<CurvePoint> points_with(double noise = 0) {
  std::vector<CurvePoint> points;
  for (int value = 0x10; value <= 0x200; value += 0x10) {
    const double bps = std::min(kHighest, 0.2e9 + kPerCommand * value);
    points.push_back({value, bps * (value % 0x20 == 0 ? 1 + noise : 1), 0.01});
  }
  return points;
}

TEST(Curve, FindsTheLinearPart) {
  const auto curve = fit_curve(1, points_with());
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->node, 1);
  EXPECT_NEAR(curve->slope_bps, kPerCommand, 0.05 * kPerCommand);
  EXPECT_EQ(curve->linear_first, 0x10);
  EXPECT_NEAR(curve->linear_last, 0xc0, 0x20);  // 198 is where it becomes flat
  EXPECT_EQ(curve->highest_bps, kHighest);
}

TEST(Curve, ToleratesNoise) {
  const auto curve = fit_curve(0, points_with(0.02));
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_NEAR(curve->slope_bps, kPerCommand, 0.05 * kPerCommand);
}

TEST(Curve, RefusesRegistersThatChangeNothing) {
  std::vector<CurvePoint> flat;
  for (int value = 0x10; value <= 0x100; value += 0x10) flat.push_back({value, 12e9, 0});
  const auto curve = fit_curve(0, flat);
  ASSERT_FALSE(curve);
  EXPECT_THAT(curve.error().message, HasSubstr("do not change the bandwidth"));
}

TEST(Curve, RefusesALineThatRisesFarLessThanTheValuesDo) {
  const auto noise = fit_curve(0, {{0x10, 8e9, 0}, {0x200, 9.6e9, 0}, {0x400, 11.2e9, 0}, {0xfff, 9e9, 0}});
  ASSERT_FALSE(noise);
  EXPECT_THAT(noise.error().message, HasSubstr("do not change the bandwidth"));
  EXPECT_TRUE(fit_curve(0, {{0x40, 4e9, 0}, {0x48, 4.5e9, 0}, {0x50, 5e9, 0}}));
}

TEST(Curve, RefusesNoiseAndTooFewPoints) {
  EXPECT_FALSE(fit_curve(0, {{16, 1e9, 0}, {32, 9e9, 0}, {48, 2e9, 0}}));
  EXPECT_FALSE(fit_curve(0, {{16, 1e9, 0}, {32, 2e9, 0}}));
  EXPECT_FALSE(fit_curve(0, {}));
}

TEST(Curve, TurnsABandwidthIntoAValue) {
  const auto curve = fit_curve(0, points_with());
  ASSERT_TRUE(curve);
  EXPECT_NEAR(value_for(*curve, 8e9).value_or(-1), 78, 2);
}

TEST(Curve, RefusesWhatIsAboveTheMachine) {
  const auto value = value_for(*fit_curve(0, points_with()), 30e9);
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message,
              HasSubstr("30 GB/s is above what node 0 of this machine reaches, 20 GB/s"));
}

TEST(Curve, RefusesWhatIsBelowTheLinearPart) {
  const auto value = value_for(*fit_curve(0, points_with()), 10e6);
  ASSERT_FALSE(value);
  EXPECT_THAT(value.error().message, HasSubstr("straight line"));
}

TEST(Curves, AreReadAsTheyWereWritten) {
  Curves curves{"a machine; its DIMMs", {}};
  curves.put(*fit_curve(1, points_with()));
  curves.put(*fit_curve(0, points_with(0.02)));
  const auto read = parse_curves(serialize(curves));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(serialize(*read), serialize(curves));
  EXPECT_EQ(read->nodes.front().node, 0);
  EXPECT_EQ(read->find(2), nullptr);
}

TEST(Curves, OfAnotherPopulationAreNotFound) {
  const FakeRoot root;
  Curves curves{"with two DIMMs", {}};
  curves.put(*fit_curve(0, points_with()));
  ASSERT_TRUE(write_durably(curves_path(root.path(), curves.machine), serialize(curves)));
  EXPECT_TRUE(load_curves(root.path(), "with two DIMMs"));
  const auto other = load_curves(root.path(), "with four DIMMs");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().hint, HasSubstr("nvmemu throttle calibrate"));
}

TEST(Curves, AreRefusedWhereTheyAreDamaged) {
  for (const char* text :
       {"", "garbage", "nvmemu-throttle-curve-1\npoint 1 2 3\n", "nvmemu-throttle-curve-1\nnode 0 x\n",
        "nvmemu-throttle-curve-1\nnode 0 0 0 0 0 0\n",
        "nvmemu-throttle-curve-1\nnode 0 1 0 1 9 1\npoint 4096 1 0\n"})
    EXPECT_FALSE(parse_curves(text)) << text;
}

TEST(Curves, HaveNoNumbersThatNoMachineHas) {
  const std::string header = "nvmemu-throttle-curve-1\n";
  ASSERT_TRUE(parse_curves(header + "node 0 1e8 0 1 9 1e10\npoint 1 1e8 0\n"));
  for (const char* node :
       {"-1 1e8 0 1 9 1e10", "70000 1e8 0 1 9 1e10", "0 1e-300 0 1 9 1e10", "0 1e300 0 1 9 1e10",
        "0 1e8 -1e300 1 9 1e10", "0 1e8 0 -1 9 1e10", "0 1e8 0 1 5000 1e10", "0 1e8 0 1 9 -1"})
    EXPECT_FALSE(parse_curves(header + "node " + node + "\n")) << node;
  for (const char* point : {"-1 1e8 0", "1 -1e8 0", "1 1e300 0", "1 1e8 -1", "1 1e8 1e300"})
    EXPECT_FALSE(parse_curves(header + "node 0 1e8 0 1 9 1e10\npoint " + point + "\n")) << point;
}

TEST(Curves, AreRefusedInWordsThatATerminalPrints) {
  EXPECT_THAT(parse_curves("nvmemu-throttle-curve-1\n\033[2J\n").error().message, HasSubstr("'?[2J'"));
}

}  // namespace
}  // namespace nvmemu
