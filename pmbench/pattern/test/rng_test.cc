// SPDX-License-Identifier: Apache-2.0
#include "pattern/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "pattern/fast_math.h"
#include "pattern/permutation.h"

namespace nvmemu::pmbench {
namespace {

// Of the reference's splitmix64.c from state 1234567.
TEST(SplitMix, IsTheReferences) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(split_mix(state), 6457827717110365317U);
  EXPECT_EQ(split_mix(state), 3203168211198807973U);
  EXPECT_EQ(split_mix(state), 9817491932198370423U);
}

TEST(Rng, TheSameSeedAndStreamGiveTheSameNumbers) {
  Rng one(7, 3);
  Rng other(7, 3);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(one.next(), other.next());
}

TEST(Rng, StreamsAndSeedsHaveNothingInCommon) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    for (std::uint64_t stream = 0; stream < 8; ++stream) {
      Rng rng(seed, stream);
      for (int i = 0; i < 1000; ++i) seen.insert(rng.next());
    }
  }
  EXPECT_EQ(seen.size(), 32'000);
}

TEST(Rng, EachBitIsSetHalfOfTheTime) {
  constexpr int kWords = 100'000;
  Rng rng(1);
  std::vector<int> set(64);
  for (int i = 0; i < kWords; ++i) {
    const std::uint64_t number = rng.next();
    for (std::size_t bit = 0; bit < 64; ++bit) set[bit] += static_cast<int>(number >> bit & 1);
  }
  for (const int count : set) EXPECT_NEAR(count, kWords / 2, 5 * std::sqrt(kWords) / 2);  // five sigma
}

TEST(Rng, DrawsFarBeyond32Bits) {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;
  Rng rng(1);
  std::uint64_t most = 0;
  for (int i = 0; i < 1000; ++i) most = std::max(most, rng.below(kLimit));
  EXPECT_GT(most, kLimit / 100 * 99);
  EXPECT_LT(most, kLimit);
}

class PermutationOf : public testing::TestWithParam<std::uint64_t> {};

TEST_P(PermutationOf, IsOneToOne) {
  const Permutation permutation(GetParam(), 5);
  std::vector<bool> seen(GetParam());
  for (std::uint64_t i = 0; i < GetParam(); ++i) {
    const std::uint64_t to = permutation(i);
    ASSERT_LT(to, GetParam());
    EXPECT_FALSE(seen[to]) << i;
    seen[to] = true;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PermutationOf,
                         testing::Values(1, 2, 3, 5, 64, 1000, 4096, 4097, 32768, 100'003));

TEST_P(PermutationOf, IsTheSameOfMany) {
  const Permutation permutation(GetParam(), 5);
  const std::size_t count = std::min<std::uint64_t>(GetParam(), Permutation::kMost);
  std::vector<std::uint64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = GetParam() - 1 - i;
  permutation.apply(numbers);
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(numbers[i], permutation(GetParam() - 1 - i));
}

// Hot pages must not be neighbours, nor where they were with another seed.
TEST(Permutation, SpreadsNeighboursAndDependsOnTheSeed) {
  constexpr std::uint64_t kPages = 1 << 16;
  const Permutation one(kPages, 1);
  const Permutation other(kPages, 2);
  double distance = 0;
  int equal = 0;
  for (std::uint64_t i = 0; i + 1 < kPages; ++i) {
    distance += std::abs(static_cast<double>(one(i)) - static_cast<double>(one(i + 1)));
    equal += one(i) == other(i) ? 1 : 0;
  }
  EXPECT_NEAR(distance / kPages, kPages / 3.0, kPages * 0.01);  // of two independent places: a third
  EXPECT_LT(equal, 10);
}

TEST(FastMath, IsThatOfTheLibrary) {
  Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    const double x = std::exp((rng.unit() - 0.5) * 200);
    EXPECT_NEAR(fast_log(x), std::log(x), 1e-8) << x;
    const double y = (rng.unit() - 0.5) * 1000;
    EXPECT_NEAR(fast_exp(y) / std::exp(y), 1, 1e-8) << y;
    const double near_1 = 1 + (rng.unit() - 0.5) * std::pow(10, -10 * rng.unit());
    EXPECT_NEAR(fast_log(near_1) / std::log(near_1), 1, 1e-8) << near_1;
  }
}

}  // namespace
}  // namespace nvmemu::pmbench
