// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/traffic/recent_ranges.h"

#include <gtest/gtest.h>

namespace nvmemu {
namespace {

constexpr double kCache = 1000;

TEST(RecentRanges, WhatWasNeverSeenIsFresh) {
  RecentRanges ranges(kCache);
  EXPECT_EQ(ranges.pass(100, 300, false).bytes, 200);
  EXPECT_EQ(ranges.pass(500, 500, false).bytes, 0);
}

TEST(RecentRanges, WhatWasJustReadIsNot) {
  RecentRanges ranges(kCache);
  ranges.pass(100, 300, false);
  EXPECT_EQ(ranges.pass(100, 300, false).bytes, 0);
  EXPECT_EQ(ranges.pass(50, 400, false).bytes, 150) << "on both sides of it";
  EXPECT_EQ(ranges.pass(150, 200, false).bytes, 0) << "within it";
  EXPECT_EQ(ranges.pass(50, 400, false).bytes, 0) << "and around that again";
}

TEST(RecentRanges, IsFreshAgainOnceSoMuchElseWasPassed) {
  RecentRanges ranges(kCache);
  ranges.pass(0, 100, false);
  ranges.pass(10'000, 10'800, false);
  EXPECT_EQ(ranges.pass(0, 100, false).bytes, 0);
  ranges.pass(20'000, 21'000, false);
  EXPECT_EQ(ranges.pass(0, 100, false).bytes, 100);
}

TEST(RecentRanges, TheSameOverAndOverDrivesNothingElseOut) {
  RecentRanges ranges(kCache);
  ranges.pass(0, 100, false);
  for (int i = 0; i < 50; ++i) ranges.pass(200, 300, false);
  EXPECT_EQ(ranges.pass(0, 100, false).bytes, 0);
}

TEST(RecentRanges, ACycleOfMoreThanTheCacheIsAlwaysFresh) {
  RecentRanges ranges(kCache);
  double fresh_bytes = 0;
  for (int pass = 0; pass < 10; ++pass) {
    for (std::uintptr_t at = 0; at < 2000; at += 50) fresh_bytes += ranges.pass(at, at + 50, false).bytes;
  }
  EXPECT_EQ(fresh_bytes, 10 * 2000);
}

TEST(RecentRanges, ACycleOfLessIsFreshOnce) {
  RecentRanges ranges(kCache);
  double fresh_bytes = 0;
  for (int pass = 0; pass < 10; ++pass) {
    for (std::uintptr_t at = 0; at < 800; at += 50) fresh_bytes += ranges.pass(at, at + 50, false).bytes;
  }
  EXPECT_EQ(fresh_bytes, 800);
}

TEST(RecentRanges, WhatWasOnlyReadIsStillToBeWritten) {
  RecentRanges ranges(kCache);
  ranges.pass(0, 100, false);
  const RecentRanges::Fresh first = ranges.pass(0, 100, true);
  EXPECT_EQ(first.bytes, 0);
  EXPECT_EQ(first.unwritten_bytes, 100);
  ranges.pass(0, 100, false);
  EXPECT_EQ(ranges.pass(0, 100, true).unwritten_bytes, 0) << "a read in between writes nothing back";
}

TEST(RecentRanges, ForgetsTheOldestWhereThereIsNoMoreRoom) {
  RecentRanges ranges(1e9);
  for (std::uintptr_t at = 0; at < 200'000; at += 1000) ranges.pass(at, at + 10, false);
  EXPECT_EQ(ranges.pass(199'000, 199'010, false).bytes, 0);
  EXPECT_EQ(ranges.pass(0, 10, false).bytes, 10);
}

}  // namespace
}  // namespace nvmemu
