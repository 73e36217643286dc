// SPDX-License-Identifier: Apache-2.0
#include "output/bands.h"

#include <gtest/gtest.h>

#include "example_run.h"

namespace nvmemu::pmbench {
namespace {

Bands bands_with(std::uint64_t ns, std::uint64_t times = 1) {
  LatencyCounts counts;
  record(counts, ns, times);
  return bands_of(counts);
}

TEST(Bands, HaveThePapersExample) {
  // 'a latency measurement of 9,231 ns will increment the 3rd counter in the 8,192 - 16,384 ns bucket'
  EXPECT_EQ(bands_with(9231).fine[13 - 8][2], 1);
}

TEST(Bands, BeginAndEndWhereTheOriginalsDo) {
  EXPECT_EQ(bands_with(0).below, 1);
  EXPECT_EQ(bands_with(255).below, 1);
  EXPECT_EQ(bands_with(256).fine[0][0], 1);
  EXPECT_EQ(bands_with(271).fine[0][0], 1);
  EXPECT_EQ(bands_with(272).fine[0][1], 1);
  EXPECT_EQ(bands_with(511).fine[0][15], 1);
  EXPECT_EQ(bands_with(512).fine[1][0], 1);
  EXPECT_EQ(bands_with((1 << 23) - 1).fine[14][15], 1);
  EXPECT_EQ(bands_with(1 << 23).coarse[0], 1);
  EXPECT_EQ(bands_with((1 << 24) - 1).coarse[0], 1);
  EXPECT_EQ(bands_with(1 << 24).coarse[1], 1);
  EXPECT_EQ(bands_with((1 << 30) - 1).coarse[6], 1);
  EXPECT_EQ(bands_with(1 << 30).above, 1);
  EXPECT_EQ(bands_with(std::uint64_t{1} << 32).above, 1);
  EXPECT_EQ(bands_with(std::uint64_t{1} << 40).above, 1);
}

// The original's own rule, for every bound and its neighbours: the octave is the highest bit, the sub-band
// the next four.
TEST(Bands, AreTheFourBitsBelowTheHighest) {
  for (unsigned bit = 8; bit < 23; ++bit) {
    for (std::uint64_t sub = 0; sub < 16; ++sub) {
      const std::uint64_t begin = (16 + sub) << (bit - 4);
      for (const std::uint64_t ns : {begin, begin + (std::uint64_t{1} << (bit - 4)) - 1}) {
        EXPECT_EQ(bands_with(ns).fine[bit - 8][sub], 1) << ns;
        EXPECT_EQ(bands_with(ns).total(), 1) << ns;
      }
    }
  }
}

TEST(Bands, CountPast32Bits) {
  const std::uint64_t many = std::uint64_t{1} << 33;
  EXPECT_EQ(bands_with(9231, many).fine[5][2], many);
  EXPECT_EQ(bands_with(9231, many).total(), many);
}

TEST(CountsOfBands, GiveTheSameBandsBack) {
  Bands bands;
  bands.below = 1001;
  for (std::size_t i = 0; i < bands.fine.size(); ++i) {
    for (std::size_t j = 0; j < bands.fine[i].size(); ++j) bands.fine[i][j] = 7 * i + j;
  }
  bands.coarse = {5, 0, 3, 1, 1000003, 2, 9};
  bands.above = std::uint64_t{1} << 40;
  const LatencyCounts counts = counts_of(bands);
  const Bands again = bands_of(counts);
  EXPECT_EQ(again.below, bands.below);
  EXPECT_EQ(again.fine, bands.fine);
  EXPECT_EQ(again.coarse, bands.coarse);
  EXPECT_EQ(again.above, bands.above);
  EXPECT_EQ(counts.count, bands.total());
}

// pmgraph puts the sub-bands, which are linear, at equal distances on a logarithmic axis: their middle would
// be 8192 * 2^(2.5 / 16) = 9130 ns, and their bounds wrong likewise.
TEST(CountsOfBands, SpreadASubBandLinearly) {
  Bands bands;
  bands.fine[5][2] = 1000;  // [9216, 9728) ns
  const LatencyCounts counts = counts_of(bands);
  EXPECT_EQ(counts.counts[Buckets::index(9216)], 500);
  EXPECT_EQ(counts.counts[Buckets::index(9472)], 500);
  EXPECT_NEAR(counts.mean_ns(), (9216 + 9727) / 2.0, 0.5);
  EXPECT_EQ(counts.min_ns, 9216);
  EXPECT_EQ(counts.max_ns, 9727);
  EXPECT_NEAR(counts.percentile_ns(0.25), 9343.5, 1);
  EXPECT_NEAR(counts.percentile_ns(0.75), 9599.5, 1);
}

TEST(CountsOfBands, PutASingleAccessIntoTheMiddle) {
  Bands bands;
  bands.above = 1;
  const LatencyCounts counts = counts_of(bands);
  EXPECT_NEAR(counts.percentile_ns(0.5), (5.0 * (1 << 30)) / 2, 1 << 26);
  EXPECT_NEAR(counts.mean_ns(), (5.0 * (1 << 30)) / 2, 1);
}

TEST(CountsOfBands, OfNothingAreNone) {
  const LatencyCounts counts = counts_of(Bands{});
  EXPECT_EQ(counts.count, 0);
  EXPECT_EQ(counts.sum_ns, 0);
  EXPECT_EQ(counts.max_ns, 0);
}

TEST(CountsOfBands, SumAsFarAsANumberGoes) {
  Bands bands;
  bands.above = std::uint64_t{1} << 53;
  EXPECT_EQ(counts_of(bands).sum_ns, ~std::uint64_t{0});
}

}  // namespace
}  // namespace nvmemu::pmbench
