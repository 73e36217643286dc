// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/memory_share.h"

#include <algorithm>

namespace nvmemu {
namespace {

constexpr double kPoolWeightReadings = 4;  // how many readings of its own outweigh the pool
constexpr double kReadingsPerIndependent = 4;
// One burst's share lies between 0 and 1; before two bursts have been seen, take the widest spread there is.
constexpr double kUnknownVariance = 0.25;

}  // namespace

double SharePool::mean() const { return (share_sum + kPriorShare) / (bursts + 1); }

double SharePool::variance() const {
  if (bursts < 2) return kUnknownVariance;
  const double m = share_sum / bursts;
  return std::max(0.0, square_sum / bursts - m * m) / bursts;
}

double burst_share(const ProbeSums& sums) { return sums.total_ns > 0 ? sums.memory_ns / sums.total_ns : 0; }

Share memory_share(const ProbeSums& sums, const SharePool& pool) {
  const double readings = sums.readings;
  if (readings <= 0) return {pool.mean(), std::min(kUnknownVariance, pool.variance())};
  const double drawn_ns = kPoolWeightReadings * sums.total_ns / readings;
  const double total_ns = sums.total_ns + drawn_ns;
  const double value = total_ns > 0 ? (sums.memory_ns + drawn_ns * pool.mean()) / total_ns : 0;
  // The share is a ratio: of a load whose every reading came from memory it is 1 without any error, so the
  // binomial spread of the reading's class, not of the latency, is what makes it uncertain.
  const double independent = 1 + readings / kReadingsPerIndependent;
  return {value, value * (1 - value) / independent};
}

}  // namespace nvmemu
