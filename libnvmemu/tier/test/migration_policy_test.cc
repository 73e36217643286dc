// SPDX-License-Identifier: Apache-2.0
#include "tier/migration_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nvmemu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kBytes = 2 << 20;
constexpr MigrationRoom kRoomForTwo{.fast_bytes = 2 * kBytes, .most_bytes = 100 * kBytes};

RegionWindow fast(std::uintptr_t address, std::uint64_t waited, std::uint64_t before = 0) {
  return {address, waited, before, waited + before / 2, kBytes, true, false};
}
RegionWindow slow(std::uintptr_t address, std::uint64_t waited, std::uint64_t before = 0) {
  return {address, waited, before, waited + before / 2, kBytes, false, false};
}

// "-1" leaves the machine's memory, "+2" comes.
std::vector<std::string> moves(const char* policy, std::vector<RegionWindow> regions,
                               const MigrationRoom& room = kRoomForTwo) {
  const std::size_t count = plan_migration(*find_migration_policy(policy), regions, room);
  std::vector<std::string> moves;
  for (std::size_t i = 0; i < count; ++i)
    moves.push_back((regions[i].is_fast ? "-" : "+") + std::to_string(regions[i].address));
  return moves;
}

TEST(MigrationPolicy, IsFoundByItsName) {
  for (const MigrationPolicy& policy : migration_policies())
    EXPECT_EQ(find_migration_policy(policy.name), &policy);
  EXPECT_EQ(find_migration_policy("warm"), nullptr);
}

TEST(MigrationPolicy, NoneMovesNothing) {
  EXPECT_THAT(moves("none", {fast(1, 0), slow(2, 100, 100)}), IsEmpty());
}

TEST(MigrationPolicy, WhatIsHotTakesWhatRoomThereIs) {
  EXPECT_THAT(moves("hot", {slow(1, 5), slow(2, 9), slow(3, 7)}), ElementsAre("+2", "+3"));
  EXPECT_THAT(moves("hot", {fast(1, 0), slow(2, 9)}), ElementsAre("+2"));
}

TEST(MigrationPolicy, WhatIsColdMakesRoom) {
  EXPECT_THAT(moves("hot", {fast(1, 50), fast(2, 0), slow(3, 90)}), ElementsAre("-2", "+3"));
  EXPECT_THAT(moves("hot", {fast(1, 1), fast(2, 0), slow(3, 90), slow(4, 80)}),
              testing::UnorderedElementsAre("-1", "-2", "+3", "+4"));
}

TEST(MigrationPolicy, WhatIsWorthAboutTheSameStays) {
  EXPECT_THAT(moves("hot", {fast(1, 50), fast(2, 46), slow(3, 90)}), IsEmpty());
  EXPECT_THAT(moves("hot", {fast(1, 50), fast(2, 44), slow(3, 90)}), ElementsAre("-2", "+3"));
}

TEST(MigrationPolicy, WhatNobodyWaitsForStays) {
  EXPECT_THAT(moves("hot", {slow(1, 0), fast(2, 0)}), IsEmpty());
}

TEST(MigrationPolicy, ThePastCounts) {
  EXPECT_THAT(moves("hot", {fast(1, 0, 100), fast(2, 0, 10), slow(3, 90)}), ElementsAre("-2", "+3"));
  EXPECT_THAT(moves("hot", {fast(1, 0, 100), fast(2, 0, 100), slow(3, 90)}), IsEmpty());
}

TEST(MigrationPolicy, TwoTouchWaitsForTheSecond) {
  EXPECT_THAT(moves("two-touch", {slow(1, 100, 0), slow(2, 0, 100), slow(3, 1, 1)}), ElementsAre("+3"));
  EXPECT_THAT(moves("two-touch", {fast(1, 0), fast(2, 9), slow(3, 20, 20)}), ElementsAre("-1", "+3"));
}

TEST(MigrationPolicy, NoMoreIsMovedThanMayBe) {
  const MigrationRoom rate{.fast_bytes = 2 * kBytes, .most_bytes = 3 * kBytes};
  EXPECT_THAT(moves("hot", {fast(1, 0), fast(2, 0), slow(3, 90), slow(4, 80)}, rate),
              ElementsAre("-1", "+3"));
  EXPECT_THAT(moves("hot", {slow(3, 90)}, {.fast_bytes = kBytes, .most_bytes = kBytes - 1}), IsEmpty());
}

TEST(MigrationPolicy, WhatIsTooFullGivesUpMore) {
  EXPECT_THAT(moves("hot", {fast(1, 0), fast(2, 0), fast(3, 60), slow(4, 80)}),
              testing::UnorderedElementsAre("-1", "-2", "+4"));
  EXPECT_THAT(moves("hot", {fast(1, 0), fast(2, 60), fast(3, 60), slow(4, 80)}), IsEmpty());
}

TEST(MigrationPolicy, SmallOnesTakeLittleRoom) {
  std::vector<RegionWindow> regions{slow(1, 9), slow(2, 8), slow(3, 7)};
  regions[0].bytes = regions[1].bytes = kBytes / 2;
  EXPECT_THAT(moves("hot", regions), testing::UnorderedElementsAre("+1", "+2", "+3"));
}

}  // namespace
}  // namespace nvmemu
