// SPDX-License-Identifier: Apache-2.0
#include "tier/region_heat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "base/mapped.h"

namespace nvmemu {
namespace {

using testing::ElementsAre;

constexpr std::uintptr_t kRegionBytes = RegionHeat::kRegionBytes;

class RegionHeatTest : public testing::Test {
 protected:
  RegionHeatTest() : heat_(map_zeroed<RegionHeat>()) {}
  ~RegionHeatTest() override { unmap(heat_); }

  void add(std::uintptr_t address, std::uint32_t weight) { heat_->add({&address, 1}, weight); }
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> all() {
    std::vector<std::pair<std::uintptr_t, std::uint64_t>> found;
    heat_->for_each(0, [&](std::size_t, const RegionHeat::Region& region) {
      found.emplace_back(region.address(), region.waited_in_all());
    });
    return found;
  }

  RegionHeat* heat_;
};

TEST_F(RegionHeatTest, AddsUpByRegionInTheOrderOfFirstSight) {
  add(5 * kRegionBytes + 7, 10);
  add(2 * kRegionBytes, 30);
  add(6 * kRegionBytes - 1, 5);
  EXPECT_THAT(all(), ElementsAre(std::pair(5 * kRegionBytes, 15U), std::pair(2 * kRegionBytes, 30U)));
  heat_->for_each(0, [](std::size_t index, const RegionHeat::Region& region) {
    if (index != 0) return;
    EXPECT_EQ(region.noted_at, 5 * kRegionBytes + 7);
    EXPECT_EQ(region.waited[0], 10U);
    EXPECT_EQ(region.waited[2], 5U);
    EXPECT_EQ(region.misses, 2U);
  });
}

TEST_F(RegionHeatTest, EverySampleInTurnIsOfAnotherMeasurement) {
  for (std::uint32_t sample = 0; sample < RegionHeat::kParts + 1; ++sample) add(kRegionBytes, sample + 1);
  heat_->for_each(0, [](std::size_t, const RegionHeat::Region& region) {
    EXPECT_EQ(region.waited[0], 1U + 9U);
    EXPECT_EQ(region.waited[1], 2U);
    EXPECT_EQ(region.waited[7], 8U);
  });
}

TEST_F(RegionHeatTest, ASampleIsSharedOutAmongItsMisses) {
  const std::uintptr_t misses[] = {kRegionBytes, kRegionBytes + 64, 3 * kRegionBytes, 3 * kRegionBytes + 8};
  heat_->add(misses, 400);
  heat_->add({}, 400);
  EXPECT_THAT(all(), ElementsAre(std::pair(kRegionBytes, 200U), std::pair(3 * kRegionBytes, 200U)));
}

TEST_F(RegionHeatTest, WhatIsInMemoryIsTheMostThatEverWas) {
  heat_->note_resident(kRegionBytes, 8192);
  heat_->note_resident(kRegionBytes, 4096);
  EXPECT_EQ(heat_->resident_bytes_of(kRegionBytes + 1), 8192U);
  EXPECT_EQ(heat_->resident_bytes_of(2 * kRegionBytes), 0U);
  heat_->for_each(0, [](std::size_t, const RegionHeat::Region& region) {
    EXPECT_EQ(region.resident_bytes, 8192U);
    EXPECT_EQ(region.waited_in_all(), 0U);
  });
}

TEST_F(RegionHeatTest, WhatFindsNoRoomIsElsewhere) {
  for (std::uintptr_t region = 1; region <= RegionHeat::kMost; ++region) add(region * kRegionBytes, 1);
  EXPECT_EQ(heat_->elsewhere(), 0U);
  EXPECT_EQ(heat_->count(), RegionHeat::kMost);
  add((RegionHeat::kMost + 1) * kRegionBytes, 7);
  EXPECT_EQ(heat_->elsewhere(), 7U);
  add(kRegionBytes, 1);
  EXPECT_EQ(heat_->elsewhere(), 7U);
}

TEST_F(RegionHeatTest, NothingIsLostAmongThreads) {
  constexpr std::uint64_t kEach = 20'000;
  const auto work = [this] {
    for (std::uint64_t i = 0; i < kEach; ++i) add((1 + i % 100) * kRegionBytes, 1);
  };
  std::thread other(work);
  work();
  other.join();
  std::uint64_t sum = 0;
  for (const auto& [address, waited] : all()) sum += waited;
  EXPECT_EQ(sum, 2 * kEach);
}

TEST_F(RegionHeatTest, WhatAParentHasWaitedForIsNotTheChilds) {
  add(kRegionBytes, 1);
  heat_->forget();
  EXPECT_EQ(heat_->count(), 0U);
  add(kRegionBytes, 3);
  EXPECT_THAT(all(), ElementsAre(std::pair(kRegionBytes, 3U)));
}

}  // namespace
}  // namespace nvmemu
