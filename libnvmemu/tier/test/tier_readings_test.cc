// SPDX-License-Identifier: Apache-2.0
#include "tier/tier_readings.h"

#include <gtest/gtest.h>

#include "base/mapped.h"

namespace nvmemu {
namespace {

constexpr std::uintptr_t kBytesOfPage = 4096;

TEST(TierReadings, SplitASampleByWhereItsMissesLie) {
  TierMap* const map = TierMap::create({});
  auto* const found = map_zeroed<TierReadings>();
  ASSERT_TRUE(map != nullptr && found != nullptr);
  map->place(2 * kBytesOfPage, kBytesOfPage, 1);
  const std::uintptr_t misses[] = {2 * kBytesOfPage, 3 * kBytesOfPage, 2 * kBytesOfPage + 64,
                                   9 * kBytesOfPage};
  found->add(*map, misses, 400);
  found->add(*map, {}, 400);
  found->add(*map, {misses, 1}, 7);
  EXPECT_EQ(found->waited[0][0], 200U);
  EXPECT_EQ(found->waited[1][0], 200U);
  EXPECT_EQ(found->waited[1][1], 7U);
  EXPECT_EQ(found->readings[0], 2U);
  EXPECT_EQ(found->readings[1], 3U);
  unmap(found);
  TierMap::destroy(map);
}

}  // namespace
}  // namespace nvmemu
