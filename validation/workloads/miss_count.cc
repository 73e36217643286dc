// SPDX-License-Identifier: Apache-2.0
#include "workloads/miss_count.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace nvmemu::workloads {

MissCount misses_among(std::span<std::uint64_t> readings, double miss_ticks) {
  const auto middle = readings.begin() + static_cast<std::ptrdiff_t>(readings.size() / 2);
  std::nth_element(readings.begin(), middle, readings.end());
  const auto median = static_cast<double>(*middle);
  MissCount count;
  for (const std::uint64_t reading : readings) {
    const double misses = std::round((static_cast<double>(reading) - median) / miss_ticks);
    if (misses > kLoadsTimedTogether) continue;  // an interrupt, or the host took the processor
    count.loads += kLoadsTimedTogether;
    count.misses += static_cast<std::uint64_t>(std::max(misses, 0.0));
  }
  return count;
}

MissCount count_misses(ChaseState& state, std::uint64_t loads, double miss_ns, const Clock& clock) {
  std::array<std::uint64_t, kReadingsCompared> readings;
  const auto miss_ticks = static_cast<double>(clock.to_ticks(miss_ns));
  MissCount count;
  for (std::uint64_t left = loads / kLoadsTimedTogether; left >= readings.size(); left -= readings.size()) {
    std::uint64_t before = clock.now_ticks();
    for (std::uint64_t& reading : readings) {
      chase(state, kLoadsTimedTogether);
      _mm_lfence();  // the clock is not read before the loads are done
      const std::uint64_t after = clock.now_ticks();
      reading = after - before;
      before = after;
    }
    const MissCount found = misses_among(readings, miss_ticks);
    count.loads += found.loads;
    count.misses += found.misses;
  }
  return count;
}

}  // namespace nvmemu::workloads
