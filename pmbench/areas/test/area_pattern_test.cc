// SPDX-License-Identifier: Apache-2.0
#include "areas/area_pattern.h"

#include <gtest/gtest.h>

#include <set>

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kAreas = 1000;

TEST(AreaPattern, ContTouchesAndStridedDoesNot) {
  const AreaPattern cont(AreaPatternKind::kCont, kAreas, 1), strided(AreaPatternKind::kStrided, kAreas, 1);
  for (std::uint64_t i = 1; i < kAreas; ++i) {
    EXPECT_EQ(cont.operation(i).offset, cont.operation(i - 1).offset + cont.operation(i - 1).bytes);
    EXPECT_GT(strided.operation(i).offset, strided.operation(i - 1).offset + strided.operation(i - 1).bytes);
    EXPECT_EQ(cont.operation(i).bytes, 16384);
    EXPECT_EQ(strided.operation(i).bytes, 16384);
  }
}

TEST(AreaPattern, RandomIsEachPageOnceInAnOrderOfTheSeed) {
  const AreaPattern one(AreaPatternKind::kRandom, kAreas, 1), same(AreaPatternKind::kRandom, kAreas, 1),
      other(AreaPatternKind::kRandom, kAreas, 2);
  std::set<std::uint64_t> offsets;
  std::uint64_t differing = 0;
  for (std::uint64_t i = 0; i < kAreas; ++i) {
    offsets.insert(one.operation(i).offset);
    EXPECT_LT(one.operation(i).offset, one.room_bytes());
    EXPECT_EQ(one.operation(i).offset, same.operation(i).offset);
    differing += one.operation(i).offset != other.operation(i).offset ? 1 : 0;
  }
  EXPECT_EQ(offsets.size(), kAreas);
  EXPECT_GT(differing, kAreas / 2);
}

TEST(AreaPattern, FragResizesEveryOtherPageOfWhatIsMappedBefore) {
  const AreaPattern frag(AreaPatternKind::kFrag, kAreas, 1);
  ASSERT_TRUE(frag.preparation());
  EXPECT_EQ(frag.preparation()->bytes, kAreas * 8192);
  EXPECT_EQ(frag.operation(3).offset, 3 * 8192);
  EXPECT_EQ(frag.operation(3).bytes, 4096);
  EXPECT_EQ(frag.operation(3).new_bytes, 16384);
  EXPECT_FALSE(AreaPattern(AreaPatternKind::kCont, kAreas, 1).preparation());
}

}  // namespace
}  // namespace nvmemu::pmbench
