// SPDX-License-Identifier: Apache-2.0
#include "report/silence.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

TEST(Silence, IsWhereMostOfTheTimeWasNotSampled) {
  EXPECT_TRUE(is_silent({.user_ns = 10e9, .sampled_ns = 0.3e9}));
  EXPECT_TRUE(is_silent({.user_ns = 10e9, .sampled_ns = 6.5e9}));
  EXPECT_FALSE(is_silent({.user_ns = 10e9, .sampled_ns = 6.8e9}));
  EXPECT_FALSE(is_silent({.user_ns = 10e9, .sampled_ns = 11e9}));
}

TEST(Silence, IsNotWhereTheEmulatorItselfSpentTheTime) {
  EXPECT_FALSE(is_silent({.user_ns = 10e9, .emulation_ns = 9e9, .sampled_ns = 1e9}));
  EXPECT_FALSE(is_silent({.user_ns = 1e9, .emulation_ns = 2e9}));
}

TEST(Silence, IsNotToldOfShortRunsNorOfThreadsThatWereCutOff) {
  EXPECT_FALSE(is_silent({.user_ns = 90e6}));
  EXPECT_FALSE(is_silent({.user_ns = 3.2e9, .sampled_ns = 0.1e9, .cut_off = 64}));
}

}  // namespace
}  // namespace nvmemu
