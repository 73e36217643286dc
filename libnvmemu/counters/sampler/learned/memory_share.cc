// SPDX-License-Identifier: Apache-2.0
#include "counters/sampler/learned/memory_share.h"

#include <algorithm>
#include <cmath>

namespace nvmemu {
namespace {

constexpr double kPoolWeightReadings = 1;  // how many readings of its own outweigh the pool
constexpr double kReadingsPerIndependent = 4;
// One burst's share lies between 0 and 1; before two bursts have been seen, take the widest spread there is.
constexpr double kUnknownVariance = 0.25;

// The part of the readings from memory that is not put down to the probes themselves, where of as many hits
// `lost` would have been.
double undisturbed(const ProbeSums& sums, double lost) {
  const double hits = sums.readings - sums.from_memory;
  if (sums.from_memory <= 0 || hits <= 0) return 1;
  const double kept_share = 1 - lost / sums.readings;
  if (kept_share <= 0) return 0;
  return std::max(0.0, 1 - hits * (1 / kept_share - 1) / sums.from_memory);
}

// How many hits, of as many as there are readings, the probes have lost.
double lost_hits(const ProbeSums& sums, const SharePool& pool) {
  const double hits = sums.readings - sums.from_memory;
  if (hits <= 0 || pool.disturbed_hit_ns <= 0) return sums.lost;
  const double hit_ns = (sums.total_ns - sums.memory_ns) / hits;
  return std::max(sums.lost, pool.disturbed * sums.readings * std::min(1.0, hit_ns / pool.disturbed_hit_ns));
}

}  // namespace

double SharePool::mean() const { return (share_sum + kPriorShare) / (bursts + 1); }

double SharePool::variance() const {
  if (bursts < 2) return kUnknownVariance;
  const double m = share_sum / bursts;
  return std::max(0.0, square_sum / bursts - m * m) / bursts;
}

double burst_share(const ProbeSums& sums) {
  const double memory_ns = sums.memory_ns * undisturbed(sums, sums.lost);
  const double total_ns = sums.total_ns - sums.memory_ns + memory_ns;
  return total_ns > 0 ? memory_ns / total_ns : 0;
}

Share memory_share(const ProbeSums& sums, const SharePool& pool) {
  const double readings = sums.readings;
  if (readings <= 0) return {pool.mean(), std::min(kUnknownVariance, pool.variance())};
  const double drawn_ns = kPoolWeightReadings * sums.total_ns / readings;
  const double lost = lost_hits(sums, pool);
  // A standard deviation more, unless it is plain that the load misses by itself.
  const double margin = lost > 0 ? std::sqrt(lost) * std::min(1.0, 2 * lost / sums.from_memory) : 0;
  const double memory_ns = sums.memory_ns * undisturbed(sums, lost + margin);
  const double total_ns = sums.total_ns - sums.memory_ns + memory_ns + drawn_ns;
  const double value = total_ns > 0 ? (memory_ns + drawn_ns * pool.mean()) / total_ns : 0;
  // The share is a ratio: of a load whose every reading came from memory it is 1 without any error, so the
  // binomial spread of the reading's class, not of the latency, is what makes it uncertain.
  const double independent = 1 + readings / kReadingsPerIndependent;
  return {value, value * (1 - value) / independent};
}

}  // namespace nvmemu
