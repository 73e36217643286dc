// SPDX-License-Identifier: Apache-2.0
#include "walk/held_up.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr WalkScale kScale{
    .ns_per_tick = 0.5, .fence_ticks = 40, .threshold_ticks = 240, .longest_ticks = 2040};

TEST(HeldUp, IsNoWalkThatReadsMemory) {
  HeldUp held_up;
  for (int i = 0; i < 1'000'000; ++i) held_up.add(kScale.longest_ticks, kScale);
  EXPECT_FALSE(held_up.for_too_long());
}

TEST(HeldUp, IsNoWalkThatIsInterruptedNowAndThen) {
  HeldUp held_up;
  for (int i = 0; i < 10; ++i) held_up.add(100e3 / kScale.ns_per_tick, kScale);
  EXPECT_FALSE(held_up.for_too_long());
}

TEST(HeldUp, IsAWalkWhosePagesMustAllBeSuppliedFirst) {
  HeldUp held_up;
  int readings = 0;
  while (!held_up.for_too_long()) {
    held_up.add(20e3 / kScale.ns_per_tick, kScale);
    ++readings;
  }
  EXPECT_EQ(readings, 51);
}

}  // namespace
}  // namespace nvmemu
