// SPDX-License-Identifier: Apache-2.0
#include "walk/fence_readings.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace nvmemu {
namespace {

TEST(FenceReadingsTest, WhereTheClockGoesInStepsTheMeanTellsWhatLiesBetween) {
  EXPECT_DOUBLE_EQ(mean_of_undisturbed(std::array<std::uint64_t, 8>{26, 52, 52, 52, 26, 52, 52, 78}), 48.75);
}

TEST(FenceReadingsTest, WhatWasInterruptedDoesNotCount) {
  EXPECT_DOUBLE_EQ(mean_of_undisturbed(std::array<std::uint64_t, 5>{40, 44, 90'000, 42, 42}), 42);
  EXPECT_DOUBLE_EQ(mean_of_undisturbed(std::array<std::uint64_t, 3>{0, 0, 0}), 0);
}

}  // namespace
}  // namespace nvmemu
