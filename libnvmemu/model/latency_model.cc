// SPDX-License-Identifier: Apache-2.0
#include "model/latency_model.h"

#include <algorithm>

namespace nvmemu {
namespace {

// What a load that takes `here_ns` shall take longer, on average.
double extra_ns(double here_ns, const EpochCounts& counts, const ReadLatency& latency) {
  if (here_ns <= 0) return 0;
  double sum_ns = 0;
  for (std::size_t tier = 0; tier < kMostTiers; ++tier)
    sum_ns += counts.of_tier[tier] * std::max(0.0, latency.target_of(tier) - here_ns);
  return sum_ns;
}

}  // namespace

double misses_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  return std::max(0.0, counts.loads.misses) * extra_ns(latency.base_ns, counts, latency);
}

double stall_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  if (latency.base_ns <= 0 || counts.stall_ns <= 0) return 0;
  const double misses =
      counts.misses_in_a_row > 0 ? counts.misses_in_a_row : counts.stall_ns / latency.base_ns;
  return misses * extra_ns(latency.base_ns, counts, latency);
}

double weighted_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  if (latency.cache_ns <= 0 || latency.base_ns <= 0) return 0;
  const double weighted = latency.base_ns / latency.cache_ns * counts.loads.misses;
  if (weighted <= 0) return 0;
  const double memory_ns = counts.loads.cache_stall_ns * weighted / (counts.loads.hits + weighted);
  return memory_ns / latency.base_ns * extra_ns(latency.base_ns, counts, latency);
}

double remote_share_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  const double remote = counts.loads.remote * latency.remote_ns;
  if (remote <= 0) return 0;
  const double remote_stall_ns =
      std::max(0.0, counts.stall_ns) * remote / (remote + counts.loads.local * latency.base_ns);
  return remote_stall_ns / latency.remote_ns * extra_ns(latency.remote_ns, counts, latency);
}

double episodes_delay_ns(const EpochCounts& counts, const ReadLatency& latency) noexcept {
  return std::max(0.0, counts.loads.episodes) * extra_ns(latency.base_ns, counts, latency);
}

}  // namespace nvmemu
