// SPDX-License-Identifier: Apache-2.0
#include "traffic_options.h"

#include <unistd.h>

#include <algorithm>

#include "counters/sampler/calibration/sampling_cost.h"

namespace nvmemu::preload {

double fine_traffic_bps(const BandwidthTarget& target) {
  constexpr double kUnlimitedBps = 1e9;
  constexpr double kShare = 0.4;
  double least_bps = kUnlimitedBps;
  for (const double bps : {target.read_bps, target.write_bps}) {
    if (bps > 0) least_bps = std::min(least_bps, kShare * bps);
  }
  return least_bps;
}

double traffic_period_ns(const BandwidthTarget& target) {
  constexpr double kWhereNothingIsLimitedNs = 2e6;
  return target.limits() ? kSamplePeriodNs : kWhereNothingIsLimitedNs;
}

double streaming_cache_bytes() {
  constexpr long kCountedOn = 32L << 20;
  const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long inner = std::max(0L, sysconf(_SC_LEVEL2_CACHE_SIZE));
  if (last <= 0) return static_cast<double>(inner > 0 ? inner : kCountedOn);
  return static_cast<double>(std::min(last, std::max(inner, kCountedOn)));
}

}  // namespace nvmemu::preload
