// SPDX-License-Identifier: Apache-2.0
#include "model/critical_path.h"

#include <gtest/gtest.h>

#include <vector>

namespace nvmemu {
namespace {

Lengthening of(std::vector<Stretch> stretches) { return lengthen(stretches); }

TEST(Lengthen, OfNothingIsNothing) {
  EXPECT_EQ(of({}).expected_ns, 0);
  EXPECT_EQ(of({}).most_ns, 0);
}

TEST(Lengthen, OfOneThreadIsItsDelay) {
  const Lengthening found = of({{0, 100, 200, 100, 30}, {0, 200, 400, 200, 50}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 80);
  EXPECT_DOUBLE_EQ(found.least_ns, 80);
  EXPECT_DOUBLE_EQ(found.most_ns, 80);
}

TEST(Lengthen, OfThreadsSideBySideIsTheLargest) {
  const Lengthening found = of({{0, 0, 100, 100, 30}, {1, 0, 100, 100, 50}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 50);
  EXPECT_DOUBLE_EQ(found.least_ns, 50);
  EXPECT_DOUBLE_EQ(found.most_ns, 80);
}

TEST(Lengthen, OfThreadsOneAfterAnotherIsTheSum) {
  const Lengthening found = of({{0, 0, 100, 100, 30}, {1, 100, 200, 100, 50}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 80);
  EXPECT_DOUBLE_EQ(found.least_ns, 50);
}

// A shell that waits for a command, say: its epoch spans the command's, and has hardly any CPU time.
TEST(Lengthen, OfAThreadThatOnlyWaitedIsNotTheirs) {
  const Lengthening found = of({{0, 0, 1000, 1, 0}, {1, 0, 500, 500, 30}, {2, 500, 1000, 500, 50}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 80);
}

// Each computes for half of the time, and can only have done so while the other waited for it, or they would
// not have needed all that time.
TEST(Lengthen, OfThreadsThatTookTurnsIsTheSum) {
  const Lengthening found = of({{0, 0, 100, 50, 30}, {1, 0, 100, 50, 50}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 80);
}

TEST(Lengthen, OfThreadsThatKeepSomeProcessorsBusyIsSharedAmongThem) {
  // Four threads, two processors' worth: twice 30 + 30, two at a time.
  const Lengthening found =
      of({{0, 0, 100, 50, 30}, {1, 0, 100, 50, 30}, {2, 0, 100, 50, 30}, {3, 0, 100, 50, 30}});
  EXPECT_DOUBLE_EQ(found.expected_ns, 60);
  EXPECT_DOUBLE_EQ(found.least_ns, 30);
  EXPECT_DOUBLE_EQ(found.most_ns, 120);
}

// The first half side by side (40 and 10 in it), the second alone.
TEST(Lengthen, FollowsWhoRanWhen) {
  const Lengthening found = of({{0, 0, 50, 50, 40}, {1, 0, 100, 100, 20}});
  EXPECT_NEAR(found.expected_ns, 40 + 10, 1e-9);
}

TEST(Lengthen, IsNeverLessThanAThreadsOwnDelay) {
  // Taking turns with different neighbours: at each moment another is the largest.
  const Lengthening found = of({{0, 0, 50, 50, 40}, {1, 0, 100, 100, 20}, {0, 50, 100, 50, 0}});
  EXPECT_GE(found.expected_ns, found.least_ns);
  EXPECT_LE(found.expected_ns, found.most_ns);
}

TEST(Lengthen, CountsStretchesThatTookNoTime) {
  EXPECT_DOUBLE_EQ(of({{0, 100, 100, 0, 30}}).expected_ns, 30);
  EXPECT_DOUBLE_EQ(of({{0, 100, 100, 0, 30}, {0, 100, 200, 100, 10}}).most_ns, 40);
}

TEST(Lengthen, IsFineWhereANanosecondMakesNoDifference) {
  const Lengthening found = of({{0, 1e18, 1e18, 0, 30}, {1, 1e18, 1e18, 0, 50}});
  EXPECT_EQ(found.expected_ns, 50);
}

TEST(Lengthen, OfManyStretchesAddsNoRoundingErrors) {
  std::vector<Stretch> stretches;
  for (int i = 0; i < 100'000; ++i) stretches.push_back({0, i * 1e8, (i + 1) * 1e8, 1e8, 1e7 / 3});
  EXPECT_NEAR(lengthen(stretches).expected_ns, 1e12 / 3, 1);
}

}  // namespace
}  // namespace nvmemu
