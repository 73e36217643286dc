// SPDX-License-Identifier: Apache-2.0
#include "plan/migration_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu {
namespace {

using testing::HasSubstr;

TierPlan limited() { return *parse_tiers("near=2x;far=3x,after=64MiB"); }

TEST(MigrationPlan, ReadsWhatItWrites) {
  const auto plan = parse_migration("two-touch,window=250ms,rate=2GB/s", limited());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->policy, "two-touch");
  EXPECT_EQ(plan->window_ns, 250e6);
  EXPECT_EQ(plan->rate_bps, 2e9);
  const auto again = parse_migration(format_migration(*plan), limited());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(format_migration(*again), format_migration(*plan));
  EXPECT_EQ(parse_migration("hot", limited())->window_ns, 1e9);
  EXPECT_EQ(limited_tier(limited()), 2);
}

TEST(MigrationPlan, NoneNeedsNothing) {
  const auto plan = parse_migration("none", {});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->empty());
  EXPECT_TRUE(MigrationPlan{}.empty());
}

TEST(MigrationPlan, SaysWhatIsWrong) {
  const auto error = [](std::string_view text, const TierPlan& tiers) {
    const auto plan = parse_migration(text, tiers);
    return plan ? "no error" : plan.error().message;
  };
  EXPECT_THAT(error("warm", limited()), HasSubstr("is not one of none, hot, two-touch"));
  EXPECT_THAT(error("", limited()), HasSubstr("is not one of"));
  EXPECT_THAT(error("hot,window=1us", limited()), HasSubstr("a window lasts 10 ms to 60 s"));
  EXPECT_THAT(error("hot,window=soon", limited()), HasSubstr("window: "));
  EXPECT_THAT(error("hot,rate=much", limited()), HasSubstr("rate: "));
  EXPECT_THAT(error("hot,speed=1", limited()), HasSubstr("is no setting of a policy"));
  EXPECT_THAT(error("hot", *parse_tiers("far=3x,rest")), HasSubstr("no tier has DRAM of limited size"));
}

TEST(MigrationPlan, TheSlowerMemorySaysHowLongAByteTakes) {
  EXPECT_DOUBLE_EQ(move_ns_per_byte({.read_bps = 4e9, .write_bps = 1}, {.read_bps = 1, .write_bps = 2e9}),
                   0.5);
  EXPECT_DOUBLE_EQ(move_ns_per_byte({.read_bps = 4e9, .write_bps = 0}, {}), 0.25);
  EXPECT_DOUBLE_EQ(move_ns_per_byte({}, {.read_bps = 0, .write_bps = 2e9}), 0.5);
  EXPECT_DOUBLE_EQ(move_ns_per_byte({}, {}), 0.1);
}

}  // namespace
}  // namespace nvmemu
