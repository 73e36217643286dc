// SPDX-License-Identifier: Apache-2.0
#include "run/series.h"

#include <gtest/gtest.h>

namespace nvmemu::pmbench {
namespace {

using CounterArray = std::array<std::uint32_t, Buckets::kCount>;

TEST(CountedSince, IsTheDifferenceAcrossAWrapOf32Bits) {
  CounterArray before{};
  CounterArray now{};
  before[100] = ~std::uint32_t{0} - 2;
  now[100] = 5;
  before[300] = now[300] = 77;
  const LatencyCounts counts = counted_since(before, now);
  EXPECT_EQ(counts.count, 8);
  EXPECT_EQ(counts.counts[100], 8);
  EXPECT_NEAR(counts.percentile_ns(0.5), static_cast<double>(Buckets::begin_ns(100)),
              0.04 * counts.percentile_ns(0.5));
  EXPECT_LT(counts.max_ns, Buckets::begin_ns(101));
}

TEST(CountedSince, IsNothingWhereNothingWasCounted) {
  const CounterArray same{};
  EXPECT_EQ(counted_since(same, same).count, 0);
  EXPECT_EQ(counted_since(same, same).percentile_ns(0.99), 0);
}

}  // namespace
}  // namespace nvmemu::pmbench
