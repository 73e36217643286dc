// SPDX-License-Identifier: Apache-2.0
#include "areas/area_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

AreaLimits usual() {
  return {.max_map_count = 65'530,
          .memory_bytes = 16 * kGibibyte,
          .available_bytes = 8 * kGibibyte,
          .address_bytes = ~std::uint64_t{0},
          .commit_bytes = ~std::uint64_t{0}};
}

VmaOptions of(AreaPatternKind kind, std::uint64_t operations) {
  VmaOptions options;
  options.patterns = {kind};
  options.operations = operations;
  return options;
}

TEST(AreaLimits, LeaveAThousandAreasToTheProcess) {
  EXPECT_TRUE(check_area_needs(of(AreaPatternKind::kStrided, 64'000), usual()));
  const Result<void> refused = check_area_needs(of(AreaPatternKind::kStrided, 65'000), usual());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("vm.max_map_count is 65530"));
  EXPECT_THAT(refused.error().hint, HasSubstr("at most --ops 64522 of strided; or, as root, --raise-limit"));
}

TEST(AreaLimits, AreReachedByPatternsThatMergeOnlyLater) {
  EXPECT_TRUE(check_area_needs(of(AreaPatternKind::kCont, 1 << 20), usual()));
  EXPECT_TRUE(check_area_needs(of(AreaPatternKind::kRandom, 250'000), usual()));
  EXPECT_FALSE(check_area_needs(of(AreaPatternKind::kRandom, 300'000), usual()));
}

TEST(AreaLimits, AreNoneOfAreasWhereTheLimitIsRaised) {
  VmaOptions options = of(AreaPatternKind::kFrag, 1 << 20);
  options.raise_limit = true;
  EXPECT_TRUE(check_area_needs(options, usual()));
}

TEST(AreaLimits, LeaveMostOfTheMemoryAlone) {
  VmaOptions options = of(AreaPatternKind::kStrided, 1 << 20);
  options.raise_limit = true;
  AreaLimits limits = usual();
  limits.memory_bytes = 2 * kGibibyte;
  const Result<void> refused = check_area_needs(options, limits);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("more than 5 %"));
  EXPECT_THAT(refused.error().hint, HasSubstr("at most --ops 35"));  // of 102 MiB, 300 B each
}

TEST(AreaLimits, CountWhatFragMovesTo) {
  AreaLimits limits = usual();
  limits.address_bytes = kGibibyte;
  EXPECT_TRUE(check_area_needs(of(AreaPatternKind::kFrag, 40'000), limits));  // 24 KiB each
  const Result<void> refused = check_area_needs(of(AreaPatternKind::kFrag, 60'000), limits);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("ulimit -v"));
  limits.address_bytes = ~std::uint64_t{0};
  limits.commit_bytes = kGibibyte;
  EXPECT_THAT(check_area_needs(of(AreaPatternKind::kFrag, 60'000), limits).error().hint,
              HasSubstr("vm.overcommit_memory"));
}

TEST(AreaLimits, AreDescribedBefore) {
  const VmaOptions options = of(AreaPatternKind::kStrided, 60'000);
  EXPECT_THAT(describe(area_needs(options), options),
              HasSubstr("5 rounds of strided: 60000 operations each, up to 60008 areas, about 17.2 MiB"));
}

}  // namespace
}  // namespace nvmemu::pmbench
