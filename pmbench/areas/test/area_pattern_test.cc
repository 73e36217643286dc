// SPDX-License-Identifier: Apache-2.0
#include "areas/area_pattern.h"

#include <gtest/gtest.h>

#include <set>

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kMany = 1000;

TEST(AreaPattern, ContTouchesAndStridedDoesNot) {
  const AreaPattern cont(AreaPatternKind::kCont, kMany, 1), strided(AreaPatternKind::kStrided, kMany, 1);
  for (std::uint64_t i = 1; i < kMany; ++i) {
    EXPECT_EQ(cont.operation(i).offset, cont.operation(i - 1).offset + cont.operation(i - 1).bytes);
    EXPECT_GT(strided.operation(i).offset, strided.operation(i - 1).offset + strided.operation(i - 1).bytes);
    EXPECT_EQ(cont.operation(i).bytes, 16384);
    EXPECT_EQ(strided.operation(i).bytes, 16384);
  }
}

TEST(AreaPattern, RandomIsEachPageOnceInAnOrderOfTheSeed) {
  const AreaPattern one(AreaPatternKind::kRandom, kMany, 1), same(AreaPatternKind::kRandom, kMany, 1),
      other(AreaPatternKind::kRandom, kMany, 2);
  std::set<std::uint64_t> offsets;
  std::uint64_t differing = 0;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    offsets.insert(one.operation(i).offset);
    EXPECT_LT(one.operation(i).offset, one.room_bytes());
    EXPECT_EQ(one.operation(i).offset, same.operation(i).offset);
    differing += one.operation(i).offset != other.operation(i).offset ? 1 : 0;
  }
  EXPECT_EQ(offsets.size(), kMany);
  EXPECT_GT(differing, kMany / 2);
}

TEST(AreaPattern, FragResizesEveryOtherPageOfWhatIsMappedBefore) {
  const AreaPattern frag(AreaPatternKind::kFrag, kMany, 1);
  ASSERT_TRUE(frag.preparation());
  EXPECT_EQ(frag.preparation()->bytes, kMany * 8192);
  EXPECT_EQ(frag.operation(3).offset, 3 * 8192);
  EXPECT_EQ(frag.operation(3).bytes, 4096);
  EXPECT_EQ(frag.operation(3).new_bytes, 16384);
  EXPECT_FALSE(AreaPattern(AreaPatternKind::kCont, kMany, 1).preparation());
}

}  // namespace
}  // namespace nvmemu::pmbench
