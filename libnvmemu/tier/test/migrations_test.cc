// SPDX-License-Identifier: Apache-2.0
#include "tier/migrations.h"

#include <gtest/gtest.h>

#include "base/mapped.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kRegion = RegionHeat::kRegionBytes;
constexpr TierId kSlow = 2;
constexpr MigrationRoom kTwo{.fast_bytes = 2 * kRegion, .most_bytes = 100 * kRegion};

// Regions 1 and 2 are in the machine's memory, all else in the slow tier.
class MigrationsTest : public testing::Test {
 protected:
  MigrationsTest()
      : map_(TierMap::create({})), heat_(map_zeroed<RegionHeat>()), migrations_(map_zeroed<Migrations>()) {
    map_->place_rest(kRegion, 2 * kRegion, 0);
    map_->set_otherwise(kSlow);
    heat_->note_resident(kRegion, kRegion);
    heat_->note_resident(2 * kRegion, kRegion);
  }
  ~MigrationsTest() override {
    unmap(migrations_);
    unmap(heat_);
    TierMap::destroy(map_);
  }
  void wait_for(std::uintptr_t region, std::uint32_t weight) {
    const std::uintptr_t address = region * kRegion + 5;
    heat_->add({&address, 1}, weight);
  }
  Migrated end_window(const char* policy = "hot", const MigrationRoom& room = kTwo) {
    return migrations_->end_window(*find_migration_policy(policy), kSlow, room, *heat_, *map_);
  }
  TierId tier_of(std::uintptr_t region) const { return map_->tier_of(region * kRegion + 4096); }

  TierMap* map_;
  RegionHeat* heat_;
  Migrations* migrations_;
};

TEST_F(MigrationsTest, MovesWhatIsHotInTheMap) {
  wait_for(7, 100);
  wait_for(1, 10);
  const Migrated migrated = end_window();
  EXPECT_EQ(migrated.promotions, 1U);
  EXPECT_EQ(migrated.demotions, 1U);
  EXPECT_EQ(migrated.promoted_bytes, kRegion);
  EXPECT_EQ(migrated.demoted_bytes, kRegion);
  EXPECT_EQ(tier_of(7), 0);
  EXPECT_EQ(tier_of(1), 0);
  EXPECT_EQ(tier_of(2), kSlow);
  EXPECT_EQ(end_window().promotions, 0U);
}

TEST_F(MigrationsTest, WindowsCountByThemselves) {
  wait_for(7, 100);
  EXPECT_EQ(end_window("two-touch").promotions, 0U);
  EXPECT_EQ(end_window("two-touch").promotions, 0U);
  wait_for(7, 100);
  EXPECT_EQ(end_window("two-touch").promotions, 0U);
  wait_for(7, 100);
  EXPECT_EQ(end_window("two-touch").promotions, 1U);
  EXPECT_EQ(tier_of(7), 0);
}

TEST_F(MigrationsTest, WhatIsPlacedElsewhereStaysThere) {
  map_->place(7 * kRegion, kRegion, 3);
  const auto interleaved =
      map_->class_of({.parts = {{{.tier = 0, .pages = 1}, {.tier = kSlow, .pages = 1}}}, .count = 2});
  map_->place(8 * kRegion, kRegion, *interleaved);
  map_->place(9 * kRegion + 8192, 4096, 3);
  for (const std::uintptr_t region : {7, 8, 9}) wait_for(region, 100);
  EXPECT_EQ(end_window().promotions, 1U);
  EXPECT_EQ(tier_of(7), 3);
  EXPECT_EQ(map_->placed_in(8 * kRegion), interleaved);
  EXPECT_EQ(tier_of(9), 0);
  EXPECT_EQ(map_->tier_of(9 * kRegion + 8192), 3);
}

TEST_F(MigrationsTest, WhatIsUnmappedMakesRoom) {
  wait_for(1, 100);
  wait_for(2, 100);
  wait_for(7, 110);
  EXPECT_EQ(end_window().promotions, 0U);
  map_->remove(2 * kRegion, kRegion);
  wait_for(7, 110);
  const Migrated migrated = end_window();
  EXPECT_EQ(migrated.promotions, 1U);
  EXPECT_EQ(migrated.demotions, 0U);
}

TEST_F(MigrationsTest, MovesNoMoreThanItMay) {
  for (const std::uintptr_t region : {7, 8}) wait_for(region, 100);
  EXPECT_EQ(end_window("hot", {.fast_bytes = 2 * kRegion, .most_bytes = 2 * kRegion}).promotions, 1U);
  EXPECT_EQ(end_window("none").promotions, 0U);
}

TEST_F(MigrationsTest, AChildBeginsAnew) {
  wait_for(7, 100);
  end_window("two-touch");
  heat_->forget();
  migrations_->forget();
  wait_for(7, 50);
  EXPECT_EQ(end_window("two-touch").promotions, 0U);
  wait_for(7, 50);
  EXPECT_EQ(end_window("two-touch").promotions, 1U);
}

}  // namespace
}  // namespace nvmemu
