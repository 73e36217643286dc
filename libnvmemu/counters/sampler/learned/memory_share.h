// SPDX-License-Identifier: Apache-2.0
// What share of the time behind a load is memory's, and not a cache's. Pure arithmetic.
#pragma once

#include "counters/sampler/learned/load_table.h"

namespace nvmemu {

// The process's mean share over the loads that were probed, each probed as often as samples fell on it, so
// that the mean is weighted by stall time.
struct SharePool {
  double bursts = 0;      // probe bursts behind it
  double share_sum = 0;   // of their shares
  double square_sum = 0;  // and of the shares' squares
  double disturbed =
      0;  // of the readings of a load that always hits, those that come from memory all the same,
  double disturbed_hit_ns = 0;  // where its hits take this long (the last-level cache); shorter ones, fewer

  double mean() const;      // kPriorShare while nothing was probed
  double variance() const;  // of the mean
};

// Before any probe, a load's stalls count by half: the error that this can make is at most that, and it fades
// with the first burst.
inline constexpr double kPriorShare = 0.5;

struct Share {
  double value;     // 0 to 1
  double variance;  // of value
};

// With p the share of executions that go to memory, L their latency and t a hit's, p L / (p L + (1 - p) t),
// which is memory time over total time of the probes; drawn towards the pool's mean while the load has few
// probes of its own. A burst's readings come from one moment, so they count as less than independent.
//
// A probe's trap pauses the program, and in that time neighbours evict lines that it would have found in a
// cache: of the readings that could have been hits, as many as were lost, and a standard deviation more where
// not many more came from memory, are not counted as memory. With l of n readings lost and h that hit,
// h / (1 - l / n) could have been. Of a load whose hits come from the last-level cache at least as many are
// lost as the calibration has seen, of one whose hits are shorter fewer of those.
Share memory_share(const ProbeSums& sums, const SharePool& pool);

// Share of one burst alone; 0 where it has no readings.
double burst_share(const ProbeSums& sums);

}  // namespace nvmemu
