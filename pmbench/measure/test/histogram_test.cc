// SPDX-License-Identifier: Apache-2.0
#include "measure/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "pattern/rng.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t k2To32 = std::uint64_t{1} << 32;

struct Recorder {
  HistogramPage page;
  Histogram histogram{page};
};

std::unique_ptr<Recorder> recorder_of(const std::vector<std::uint64_t>& values) {
  auto recorder = std::make_unique<Recorder>();
  for (const std::uint64_t value : values) recorder->histogram.add(value);
  return recorder;
}

LatencyCounts counts_of(const std::vector<std::uint64_t>& values) {
  return recorder_of(values)->histogram.counts();
}

// From 0 to minutes, dense where latencies are.
std::vector<std::uint64_t> some_latencies(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<std::uint64_t> values(count);
  for (std::uint64_t& value : values) value = rng.next() >> (28 + rng.below(36));
  return values;
}

TEST(Buckets, FollowOneAnotherWithoutGaps) {
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    EXPECT_EQ(Buckets::index(Buckets::begin_ns(i)), i);
    if (i > 0) {
      EXPECT_EQ(Buckets::index(Buckets::begin_ns(i) - 1), i - 1);
    }
  }
}

TEST(Buckets, BeginAtTheBoundsOfTheOriginalsBands) {
  for (const std::uint64_t bound :
       {std::uint64_t{0}, std::uint64_t{256}, std::uint64_t{1} << 23, std::uint64_t{1} << 30, k2To32}) {
    EXPECT_EQ(Buckets::begin_ns(Buckets::index(bound)), bound);
  }
  EXPECT_NE(Buckets::index(255), Buckets::index(256));
  // The original's sixteen linear bands between each two powers of two from 2^8 to 2^23 are pairs of ours.
  for (unsigned power = 8; power < 23; ++power) {
    for (std::uint64_t band = 0; band < 16; ++band) {
      const std::uint64_t begin = (16 + band) << (power - 4);
      EXPECT_EQ(Buckets::begin_ns(Buckets::index(begin)), begin);
    }
  }
}

TEST(Buckets, AreWithinOnePointSixPerCentOfWhatFallsIntoThem) {
  for (const std::uint64_t value : some_latencies(1, 100'000)) {
    const std::size_t i = Buckets::index(value);
    const double middle = static_cast<double>(Buckets::begin_ns(i) + Buckets::begin_ns(i + 1) - 1) / 2;
    EXPECT_LE(std::abs(middle - static_cast<double>(value)), 0.016 * static_cast<double>(value)) << value;
  }
}

TEST(Histogram, KeepsTrueCountSumMinimumAndMaximum) {
  const LatencyCounts counts =
      counts_of({0, 255, 256, std::uint64_t{1} << 23, std::uint64_t{1} << 30, k2To32});
  EXPECT_EQ(counts.count, 6);
  EXPECT_EQ(counts.sum_ns, 255 + 256 + (1U << 23) + (1U << 30) + k2To32);
  EXPECT_EQ(counts.min_ns, 0);
  EXPECT_EQ(counts.max_ns, k2To32);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{256},
                                    std::uint64_t{1} << 23, std::uint64_t{1} << 30, k2To32}) {
    EXPECT_EQ(counts.counts[Buckets::index(value)], 1) << value;
  }
}

TEST(Histogram, OfNothingIsAllZeros) {
  const LatencyCounts counts = counts_of({});
  EXPECT_EQ(counts.count, 0);
  EXPECT_EQ(counts.min_ns, 0);
  EXPECT_EQ(counts.max_ns, 0);
  EXPECT_EQ(counts.mean_ns(), 0);
  EXPECT_EQ(counts.percentile_ns(0.99), 0);
  EXPECT_EQ(counts.mode_ns(), 0);
}

TEST(Histogram, KeepsWhatTakesMinutesAndHours) {
  const LatencyCounts counts = counts_of({std::uint64_t{3600} * 1'000'000'000});
  EXPECT_EQ(counts.counts[Buckets::kCount - 1], 1);
  EXPECT_EQ(counts.percentile_ns(0.5), 3600e9);
}

// 2^33 accesses, but for the last few of each 2^32, which are as good as made.
TEST(Histogram, CountsBeyond32Bits) {
  const auto recorder = recorder_of({});
  std::atomic<std::uint32_t>& counter = recorder->page.counters[Buckets::index(100)];
  for (int wrap = 0; wrap < 2; ++wrap) {
    counter.store(~std::uint32_t{0} - 1);
    for (int i = 0; i < 2; ++i) recorder->histogram.add(100);
  }
  EXPECT_EQ(counter.load(), 0);
  EXPECT_EQ(recorder->histogram.counts().count, 2 * k2To32);
  EXPECT_EQ(recorder->histogram.counts().counts[Buckets::index(100)], 2 * k2To32);
}

TEST(LatencyCounts, MergedAreAsIfRecordedTogether) {
  const std::vector<std::uint64_t> first = some_latencies(2, 5000);
  const std::vector<std::uint64_t> second = some_latencies(3, 7000);
  std::vector<std::uint64_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  LatencyCounts merged = counts_of(first);
  merged.merge(counts_of(second));
  const LatencyCounts together = counts_of(all);
  EXPECT_EQ(merged.counts, together.counts);
  EXPECT_EQ(merged.count, together.count);
  EXPECT_EQ(merged.sum_ns, together.sum_ns);
  EXPECT_EQ(merged.min_ns, together.min_ns);
  EXPECT_EQ(merged.max_ns, together.max_ns);
}

TEST(LatencyCounts, MergingNothingChangesNothing) {
  LatencyCounts counts = counts_of({7, 9});
  counts.merge(LatencyCounts{});
  EXPECT_EQ(counts.min_ns, 7);
  LatencyCounts none;
  none.merge(counts);
  EXPECT_EQ(none.min_ns, 7);
  EXPECT_EQ(none.count, 2);
}

TEST(LatencyCounts, PercentilesAreThoseOfASortedArray) {
  std::vector<std::uint64_t> values = some_latencies(4, 200'001);
  const LatencyCounts counts = counts_of(values);
  std::sort(values.begin(), values.end());
  for (const double q : {0.00001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
    const auto truth = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(counts.percentile_ns(q), truth, 0.016 * truth) << q;
  }
}

TEST(LatencyCounts, TheModeIsOfTheDensestBucketFromThere) {
  std::vector<std::uint64_t> values(1000, 90);
  values.insert(values.end(), 500, 8200);
  values.insert(values.end(), 400, 20000);
  const LatencyCounts counts = counts_of(values);
  EXPECT_NEAR(counts.mode_ns(), 90, 0.016 * 90);
  EXPECT_NEAR(counts.mode_ns(1000), 8200, 0.016 * 8200);
  EXPECT_EQ(counts.mode_ns(1e6), 0);
}

TEST(LatencyCounts, CountsAndSumsWhatIsAboveAThreshold) {
  const LatencyCounts counts = counts_of({10, 20, 30, 1'000'000, 3'000'000});
  EXPECT_DOUBLE_EQ(counts.count_above(20), 3);
  EXPECT_DOUBLE_EQ(counts.count_above(100'000), 2);
  EXPECT_NEAR(counts.sum_above_ns(100'000), 4e6, 0.016 * 4e6);
  EXPECT_EQ(counts.count_above(1e9), 0);
  EXPECT_EQ(counts.count_between(0, 256), 3);
  EXPECT_EQ(counts.count_between(std::uint64_t{1} << 19, std::uint64_t{1} << 23), 2);
}

TEST(LatencyCounts, TheBestCutIsBetweenHitsAndFaults) {
  const double cut = best_cut_ns(counts_of({60, 70, 80, 300, 9000}), counts_of({5000, 6000, 7000, 90000}));
  EXPECT_GT(cut, 300);
  EXPECT_LT(cut, 5000);
}

}  // namespace
}  // namespace nvmemu::pmbench
