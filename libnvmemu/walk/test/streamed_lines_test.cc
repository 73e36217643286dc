// SPDX-License-Identifier: Apache-2.0
#include "walk/streamed_lines.h"

#include <gtest/gtest.h>

#include "base/xorshift.h"

namespace nvmemu {
namespace {

constexpr int kLines = 2000;

// How many of the lines from `first` on, at a stride, are taken for fetched, where each `period`th misses.
int prefetched(StreamedLines& lines, std::int64_t stride, int period) {
  int count = 0;
  for (int i = 0; i < kLines; ++i)
    count += lines.on_touch(static_cast<std::uintptr_t>(1'000'000 + stride * i), i % period == 0);
  return count;
}

TEST(StreamedLines, AreThoseAtAShortStrideOfWhichMostHit) {
  for (const int stride : {1, -1, 2, 4, -4}) {
    StreamedLines lines;
    EXPECT_EQ(prefetched(lines, stride, 100), kLines / 100 - 1) << stride;  // at first nothing is known
  }
}

TEST(StreamedLines, AreNoneWhereNothingIsPrefetched) {
  StreamedLines lines;
  EXPECT_EQ(prefetched(lines, 1, 1), 0);
  EXPECT_EQ(prefetched(lines, 1, 3), 0);
}

TEST(StreamedLines, AreNoneAtALongStride) {
  StreamedLines lines;
  EXPECT_EQ(prefetched(lines, 5, 100), 0);
  EXPECT_EQ(prefetched(lines, 64, 100), 0);
}

TEST(StreamedLines, AreNoneInNoOrder) {
  StreamedLines lines;
  std::uint64_t random = 1;
  int count = 0;
  for (int i = 0; i < 100'000; ++i) {
    random = next_xorshift(random);
    count += lines.on_touch(random % 4096, i % 100 == 0);
  }
  EXPECT_EQ(count, 0);
}

TEST(StreamedLines, AnotherStreamIsOneAgainFromItsThirdLineOn) {
  StreamedLines lines;
  prefetched(lines, 1, 100);
  EXPECT_FALSE(lines.on_touch(5'000'000, true));
  EXPECT_FALSE(lines.on_touch(5'000'001, true));
  EXPECT_TRUE(lines.on_touch(5'000'002, true));
}

TEST(StreamedLines, WhatComesToMissIsNoLongerPrefetched) {
  StreamedLines lines;
  prefetched(lines, 1, 100);
  prefetched(lines, 1, 1);
  EXPECT_EQ(prefetched(lines, 1, 1), 0);
}

}  // namespace
}  // namespace nvmemu
