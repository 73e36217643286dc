// SPDX-License-Identifier: Apache-2.0
#include "areas/area_round.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_mapper.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMany = 8192;

class Round : public testing::Test {
 protected:
  Result<AreaRound> measure(AreaPatternKind kind, const AreaRoundRequest& request = {},
                            const AreaRoundHooks& hooks = {}) {
    return measure_round(
        {kind, kMany, 1}, request, mapper_, [] { return SlabReading{}; }, stop_, hooks);
  }
  void expect_nothing_left() { EXPECT_EQ(mapper_.areas(), FakeMapper::kOtherAreas); }

  FakeMapper mapper_;
  std::atomic<bool> stop_{false};
};

TEST_F(Round, CountsTheAreasThatEachPatternMakes) {
  const auto areas = [&](AreaPatternKind kind) {
    const Result<AreaRound> round = measure(kind);
    EXPECT_TRUE(round && round->finished);
    expect_nothing_left();
    return std::pair(round->areas_half_way, round->areas_at_band_end.back());
  };
  EXPECT_EQ(areas(AreaPatternKind::kCont), std::pair(std::uint64_t{1}, std::uint64_t{1}));
  EXPECT_EQ(areas(AreaPatternKind::kStrided), std::pair(kMany / 2, kMany));
  const auto [half, end] = areas(AreaPatternKind::kRandom);
  EXPECT_EQ(end, 1);
  EXPECT_NEAR(static_cast<double>(half), kMany / 4.0, 100);    // 4 standard deviations
  EXPECT_EQ(areas(AreaPatternKind::kFrag).second, kMany + 1);  // what stays, and what has moved
}

TEST_F(Round, NeverHasMoreAreasThanThePatternSays) {
  for (const AreaPatternDescription& pattern : kAreaPatterns) {
    const std::uint64_t most = AreaPattern(pattern.kind, kMany, 1).most_areas();
    const Result<AreaRound> round = measure(pattern.kind);
    ASSERT_TRUE(round);
    EXPECT_LE(*std::ranges::max_element(round->areas_at_band_end), most) << pattern.name;
    EXPECT_LE(round->areas_half_way, most) << pattern.name;
  }
}

// What is unmapped after the last operation splits areas, too: at the limit there must be room for those.
TEST_F(Round, StaysWithinThatWhenItUnmaps) {
  for (const AreaPatternDescription& pattern : kAreaPatterns) {
    mapper_.most_areas =
        FakeMapper::kOtherAreas + AreaPattern(pattern.kind, kMany, 1).most_areas(kAreaSamples);
    const Result<AreaRound> round = measure(pattern.kind);
    EXPECT_TRUE(round) << round.error().message;
    EXPECT_LE(mapper_.greatest, mapper_.most_areas) << pattern.name;
  }
}

TEST_F(Round, TimesEachOperation) {
  mapper_.ticks_an_area = 1;
  const Result<AreaRound> round = measure(AreaPatternKind::kStrided);
  ASSERT_TRUE(round);
  ASSERT_EQ(round->operations.size(), kMany);
  EXPECT_EQ(round->operations.front(), 1001);
  EXPECT_EQ(round->operations.back(), 1000 + kMany);
}

TEST_F(Round, TouchesAndUnmapsAsManyAsAreAskedForEachOnce) {
  const Result<AreaRound> round = measure(AreaPatternKind::kFrag, {.samples = 100});
  ASSERT_TRUE(round);
  EXPECT_EQ(round->touches.size(), 100);
  EXPECT_EQ(round->unmappings.size(), 100);
  EXPECT_EQ(mapper_.touched.size(), 100);
  EXPECT_EQ(std::ranges::count(round->touches, 0U), 0);
  expect_nothing_left();
}

TEST_F(Round, ForksAtEachBandsEnd) {
  const Result<AreaRound> round =
      measure(AreaPatternKind::kCont, {.touch = false, .unmap = false, .fork = true, .forks = 2});
  ASSERT_TRUE(round);
  EXPECT_EQ(round->forks.size(), 4);  // 1,024 to 8,192
  EXPECT_EQ(mapper_.forks, 8);
  EXPECT_TRUE(round->touches.empty());
}

TEST_F(Round, NamesTheOperationThatFailedAndLeavesNothing) {
  mapper_.most_areas = FakeMapper::kOtherAreas + 100;
  const Result<AreaRound> round = measure(AreaPatternKind::kStrided);
  ASSERT_FALSE(round);
  EXPECT_THAT(round.error().message, testing::HasSubstr("strided: mmap number 102 failed"));
  EXPECT_THAT(round.error().hint, testing::HasSubstr("vm.max_map_count"));
  expect_nothing_left();
}

TEST_F(Round, EndsWhenItIsStoppedAndCallsItsHooks) {
  stop_ = true;
  int before = 0, after = 0;
  const Result<AreaRound> round =
      measure(AreaPatternKind::kStrided, {}, {[&] { ++before; }, [&] { ++after; }});
  ASSERT_TRUE(round);
  EXPECT_FALSE(round->finished);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 1);
  expect_nothing_left();
}

}  // namespace
}  // namespace nvmemu::pmbench
