// SPDX-License-Identifier: Apache-2.0
#include "walk/fetched_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu {
namespace {

FetchedLines lines(std::uintptr_t count, double waited = 100) {
  FetchedLines lines;
  for (std::uintptr_t i = 0; i < count; ++i) lines.add(i, waited);
  return lines;
}

std::vector<std::uintptr_t> touched(const FetchedLines& lines) {
  std::vector<std::uintptr_t> touched;
  lines.spared([&](std::uintptr_t address) {
    touched.push_back(address);
    return 0.0;
  });
  return touched;
}

TEST(FetchedLines, SpareAllThatIsNotWaitedForAgain) {
  EXPECT_EQ(lines(10).spared([](std::uintptr_t) { return 0.0; }), 1);
  EXPECT_DOUBLE_EQ(lines(10).spared([](std::uintptr_t) { return 30.0; }), 0.7);
  EXPECT_EQ(lines(10).spared([](std::uintptr_t) { return 100.0; }), 0);
}

TEST(FetchedLines, CountAnInterruptionAsAMissAndLessThanNothingAsNothing) {
  EXPECT_DOUBLE_EQ(lines(10).spared([](std::uintptr_t address) { return address == 3 ? 1e6 : 0.0; }), 0.9);
  EXPECT_EQ(lines(10).spared([](std::uintptr_t) { return -5.0; }), 1);
}

TEST(FetchedLines, WeighLongMissesMore) {
  FetchedLines two = lines(1, 100);
  two.add(1, 300);
  EXPECT_DOUBLE_EQ(two.spared([](std::uintptr_t address) { return address == 1 ? 300.0 : 0.0; }), 0.25);
}

TEST(FetchedLines, AreTouchedInOrderAndSpreadOverTheWalk) {
  EXPECT_EQ(touched(lines(3)), (std::vector<std::uintptr_t>{0, 1, 2}));
  for (const std::uintptr_t count : {17U, 100U, 1500U, 12'000U}) {
    const std::vector<std::uintptr_t> some = touched(lines(count));
    ASSERT_GE(some.size(), 8U) << count;
    ASSERT_LE(some.size(), 16U) << count;
    for (std::size_t i = 1; i < some.size(); ++i) EXPECT_EQ(some[i] - some[i - 1], some[1]) << count;
    EXPECT_LT(count - some.back(), some[1] + 1) << count;
  }
}

TEST(FetchedLines, OfNoneNothingIsTouched) { EXPECT_TRUE(touched(lines(0)).empty()); }

}  // namespace
}  // namespace nvmemu
