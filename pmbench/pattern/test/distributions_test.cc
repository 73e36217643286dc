// SPDX-License-Identifier: Apache-2.0
// Each pattern against the distribution that it claims, by the statistic that suits it, with fixed seeds. The
// bounds are those that one right generator in 10^4 exceeds: chance plays no part, since the seeds are fixed,
// but a bound that a right generator may exceed would have been tuned to one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "pattern/pattern.h"

namespace nvmemu::pmbench {
namespace {

constexpr std::size_t kDraws = 1'000'000;

std::vector<std::uint64_t> draws(const PatternRequest& request, std::size_t count = kDraws) {
  const auto pattern = make_pattern(request);
  EXPECT_TRUE(pattern) << pattern.error().message;
  std::vector<std::uint64_t> pages(count);
  (*pattern)->draw(pages);
  return pages;
}

std::vector<double> counts_by_page(const std::vector<std::uint64_t>& pages, std::uint64_t of) {
  std::vector<double> counts(of);
  for (const std::uint64_t page : pages) counts.at(page) += 1;
  return counts;
}

// (chi2 - df) / sqrt(2 df), which for many degrees of freedom is normal: one in 10^4 exceeds 3.9. Bins that
// expect few are put together.
double chi_square_sigmas(const std::vector<double>& counts, const std::vector<double>& probabilities) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double chi_square = 0, degrees = -1, count = 0, expected = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    count += counts[i];
    expected += probabilities[i] * total;
    if (expected < 20 && i + 1 < counts.size()) continue;
    chi_square += (count - expected) * (count - expected) / expected;
    degrees += 1;
    count = expected = 0;
  }
  return (chi_square - degrees) / std::sqrt(2 * degrees);
}
constexpr double kMostSigmas = 4;

// sqrt(n) times the greatest distance of the draws' distribution from `cdf`, P(page <= k), at pages: one in
// 10^4 exceeds 2.23 (Kolmogorov), fewer where the distribution is discrete.
double kolmogorov_smirnov(const std::vector<double>& counts, const std::function<double(double)>& cdf) {
  const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double below = 0, distance = 0;
  for (std::size_t page = 0; page < counts.size(); ++page) {
    below += counts[page];
    distance = std::max(distance, std::abs(below / total - cdf(static_cast<double>(page))));
  }
  return distance * std::sqrt(total);
}
constexpr double kMostDistance = 2.23;

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

// Of the sum of twelve uniform numbers less 6.
double irwin_hall_cdf(double x) {
  if (x <= -6) return 0;
  if (x >= 6) return 1;
  if (x > 0) return 1 - irwin_hall_cdf(-x);  // the alternating sum is exact on the lower side
  long double sum = 0, binomial = 1, factorial = 479001600;
  const auto y = static_cast<long double>(x) + 6;
  for (int k = 0; k <= static_cast<int>(y); ++k) {
    sum += (k % 2 == 0 ? 1 : -1) * binomial * std::pow(y - k, 12.0L);
    binomial = binomial * static_cast<long double>(12 - k) / static_cast<long double>(k + 1);
  }
  return static_cast<double>(sum / factorial);
}

TEST(Uniform, IsUniform) {
  constexpr std::uint64_t kPages = 10'007;
  const auto counts = counts_by_page(draws({.name = "uniform", .pages = kPages}), kPages);
  EXPECT_LT(std::abs(chi_square_sigmas(counts, std::vector<double>(kPages, 1.0 / kPages))), kMostSigmas);
}

// The original's 31-bit numbers reach 92,000 pages of 8 GiB.
TEST(Uniform, ReachesAllOf64GiB) {
  constexpr std::uint64_t kPages = std::uint64_t{64} << 18;
  std::vector<std::uint64_t> pages = draws({.name = "uniform", .pages = kPages});
  std::sort(pages.begin(), pages.end());
  const auto distinct = static_cast<double>(std::unique(pages.begin(), pages.end()) - pages.begin());
  const double expected = kPages * -std::expm1(-static_cast<double>(kDraws) / kPages);
  EXPECT_NEAR(distinct, expected, 5 * std::sqrt(expected));
}

double normal_distance(const char* name, double sigma, bool given, double (*cdf)(double)) {
  constexpr std::uint64_t kPages = 20'000;
  const auto counts =
      counts_by_page(draws({.name = name, .pages = kPages, .shape = sigma, .shape_given = given}), kPages);
  const double width = given ? sigma : kPages / 6.0;
  const double low = cdf(-10'000 / width);
  const double high = cdf(10'000 / width);
  return kolmogorov_smirnov(
      counts, [&](double page) { return (cdf((page + 1 - 10'000) / width) - low) / (high - low); });
}

TEST(Normal, IsNormalCutOffAtTheEndsOfTheSet) {
  for (const double sigma : {0.7, 100.0, 3000.0, 30'000.0, 1e9})
    EXPECT_LT(normal_distance("normal", sigma, true, normal_cdf), kMostDistance) << sigma;
}

// The original's touches ten pages.
TEST(Normal, WithoutASigmaUsesTheWholeSet) {
  EXPECT_LT(normal_distance("normal", 1.00001, false, normal_cdf), kMostDistance);
}

TEST(IrwinHall, IsTheSumOfTwelveCutOffAtTheEndsOfTheSet) {
  for (const double sigma : {2.0, 100.0, 3000.0, 20'000.0})
    EXPECT_LT(normal_distance("normal_ih", sigma, true, irwin_hall_cdf), kMostDistance) << sigma;
  EXPECT_LT(normal_distance("normal_ih", 1.00001, false, irwin_hall_cdf), kMostDistance);
}

TEST(Pareto, IsParetoCutOffAtTheEndOfTheSet) {
  constexpr std::uint64_t kPages = 50'000;
  for (const double alpha : {0.3, 1.00001, 1.16, 2.5}) {
    const auto counts = counts_by_page(draws({.name = "pareto", .pages = kPages, .shape = alpha}), kPages);
    const double end = 1 - std::pow(kPages + 1, -alpha);
    std::vector<double> probabilities(kPages);
    for (std::uint64_t k = 0; k < kPages; ++k) {
      const auto page = static_cast<double>(k);
      probabilities[k] = (std::pow(page + 1, -alpha) - std::pow(page + 2, -alpha)) / end;
    }
    EXPECT_LT(std::abs(chi_square_sigmas(counts, probabilities)), kMostSigmas) << alpha;
  }
}

std::vector<double> zipf_probabilities(std::uint64_t pages, double alpha) {
  std::vector<double> probabilities(pages);
  for (std::uint64_t k = 0; k < pages; ++k) probabilities[k] = std::pow(static_cast<double>(k + 1), -alpha);
  const double sum = std::accumulate(probabilities.rbegin(), probabilities.rend(), 0.0);
  for (double& probability : probabilities) probability /= sum;
  return probabilities;
}

// Which page has which rank is the permutation's. A chase visits the pages in the order of the same one.
TEST(Zipf, IsZipfByRank) {
  constexpr std::uint64_t kPages = 3000;
  for (const double alpha : {0.5, 0.99, 1.0, 1.00001, 1.5, 3.0}) {
    const PatternRequest request{.name = "zipf", .pages = kPages, .shape = alpha, .seed = 9};
    PatternRequest walk = request;
    walk.name = "chase";
    const std::vector<std::uint64_t> by_rank = draws(walk, kPages);
    const auto counts = counts_by_page(draws(request), kPages);
    std::vector<double> ranked(kPages);
    for (std::uint64_t rank = 0; rank < kPages; ++rank) ranked[rank] = counts[by_rank[rank]];
    EXPECT_LT(std::abs(chi_square_sigmas(ranked, zipf_probabilities(kPages, alpha))), kMostSigmas) << alpha;
  }
}

// At alpha = 1 on 8 GiB the original's page 0 gets half of all accesses: 1 / H(n) is right.
TEST(Zipf, OfMillionsOfPagesHasTheRightHead) {
  constexpr std::uint64_t kPages = std::uint64_t{8} << 18;
  const PatternRequest request{.name = "zipf", .pages = kPages, .shape = 1.0};
  PatternRequest walk = request;
  walk.name = "chase";
  const std::vector<std::uint64_t> hottest = draws(walk, 3);
  const auto counts = counts_by_page(draws(request), kPages);
  const double harmonic = std::log(static_cast<double>(kPages)) + 0.5772156649;
  for (std::size_t rank = 0; rank < hottest.size(); ++rank) {
    const double expected = kDraws / harmonic / static_cast<double>(rank + 1);
    EXPECT_NEAR(counts[hottest[rank]], expected, 5 * std::sqrt(expected)) << rank;
  }
  EXPECT_GT(std::max(hottest[0], hottest[1]) - std::min(hottest[0], hottest[1]), 1);  // no neighbours
}

TEST(Hotspot, GivesTheShareOfAccessesToTheShareOfPages) {
  constexpr std::uint64_t kPages = 10'000;
  for (const auto& [name, accesses, pages] :
       {std::tuple{"hotspot", 0.8, 0.2}, std::tuple{"hotspot:90:10", 0.9, 0.1},
        std::tuple{"hotspot:100:5", 1.0, 0.05}}) {
    const auto counts = counts_by_page(draws({.name = name, .pages = kPages}), kPages);
    // The hot ones are spread over the set: of its halves, each has about half of them.
    const double first_half = std::accumulate(counts.begin(), counts.begin() + kPages / 2, 0.0);
    EXPECT_NEAR(first_half / kDraws, 0.5, 0.05) << name;
    const double hot_pages = pages * kPages;
    const double of_hot = accesses / hot_pages;
    const double of_cold = (1 - accesses) / (kPages - hot_pages);
    const double between = kDraws * (of_hot + of_cold) / 2;
    std::vector<double> probabilities;
    double hot_found = 0, hot_draws = 0;
    for (const double count : counts) {
      const bool is_hot = count > between;
      hot_found += is_hot ? 1 : 0;
      hot_draws += is_hot ? count : 0;
      probabilities.push_back(is_hot ? of_hot : of_cold);
    }
    EXPECT_EQ(hot_found, hot_pages) << name;
    EXPECT_NEAR(hot_draws / kDraws, accesses, 5 * std::sqrt(accesses * (1 - accesses) / kDraws) + 1e-12)
        << name;
    if (accesses < 1) {
      EXPECT_LT(std::abs(chi_square_sigmas(counts, probabilities)), kMostSigmas) << name;
    }
  }
}

TEST(Moving, MovesOnToOtherPages) {
  constexpr std::uint64_t kPages = 1000;
  constexpr std::size_t kPerMove = 100'000;
  const auto all = draws({.name = "moving:90:10:100000", .pages = kPages}, 3 * kPerMove);
  std::vector<std::vector<double>> counts;
  for (std::size_t part = 0; part < 3; ++part) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(part * kPerMove);
    counts.push_back(counts_by_page({begin, begin + kPerMove}, kPages));
  }
  int hot = 0, hot_again = 0;
  for (std::size_t page = 0; page < kPages; ++page) {
    const auto is_hot = [&](std::size_t part) { return counts[part][page] > 400; };  // 900, or 11
    hot += is_hot(0) ? 1 : 0;
    hot_again += is_hot(0) && (is_hot(1) || is_hot(2)) ? 1 : 0;
  }
  EXPECT_EQ(hot, 100);
  EXPECT_EQ(hot_again, 0);
}

TEST(RandomPatterns, HaveStreamsOfTheirOwnByThreadAndSeed) {
  for (const char* name : {"uniform", "normal", "normal_ih", "pareto", "zipf", "hotspot", "moving"}) {
    const PatternRequest request{.name = name, .pages = 100'000, .seed = 1, .thread = 0, .threads = 2};
    PatternRequest thread = request, seed = request;
    thread.thread = 1;
    seed.seed = 2;
    EXPECT_EQ(draws(request, 1000), draws(request, 1000)) << name;
    EXPECT_NE(draws(request, 1000), draws(thread, 1000)) << name;
    EXPECT_NE(draws(request, 1000), draws(seed, 1000)) << name;
  }
}

// Two streams that were one, shifted or not, would agree in their coarse places: 16 x 16 of them.
TEST(RandomPatterns, StreamsOfTwoThreadsAreIndependent) {
  constexpr std::uint64_t kPages = 16;
  const auto one = draws({.name = "uniform", .pages = kPages, .thread = 0, .threads = 2});
  const auto other = draws({.name = "uniform", .pages = kPages, .thread = 1, .threads = 2});
  std::vector<double> pairs(kPages * kPages);
  for (std::size_t i = 0; i < one.size(); ++i) pairs[one[i] * kPages + other[i]] += 1;
  EXPECT_LT(std::abs(chi_square_sigmas(pairs, std::vector<double>(pairs.size(), 1.0 / 256))), kMostSigmas);
}

}  // namespace
}  // namespace nvmemu::pmbench
