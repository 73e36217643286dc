// SPDX-License-Identifier: Apache-2.0
#include "host/memory_threshold.h"

#include <algorithm>
#include <vector>

#include "host/statistics.h"
#include "host/timed_load.h"

namespace nvmemu {
namespace {

constexpr std::size_t kReadings = 8192;

// Readings of one line after the other along the chase.
std::vector<double> readings_along(const Clock& clock, const ChaseBuffer& buffer, const void* line) {
  std::vector<double> readings;
  const std::size_t count = std::min(kReadings, buffer.loads());
  for (std::size_t i = 0; i < count; ++i) {
    readings.push_back(clock.to_ns(timed_load_ticks(line)));
    line = chase(line, 1);
  }
  return readings;
}

std::vector<double> readings_of_l1(const Clock& clock) {
  const int variable = 0;
  std::vector<double> readings;
  for (std::size_t i = 0; i < kReadings; ++i) readings.push_back(clock.to_ns(timed_load_ticks(&variable)));
  return readings;
}

}  // namespace

MemoryThreshold measure_memory_threshold(const Clock& clock, const ChaseBuffer& cached,
                                         const ChaseBuffer& from_memory) {
  const double overhead = median(readings_of_l1(clock));
  const void* line = chase(cached.start(), 2 * cached.loads());
  const double hit = median(readings_along(clock, cached, line));
  flush_ahead(from_memory.start(), kReadings);
  const double miss = median(readings_along(clock, from_memory, from_memory.start()));
  // Halfway, not the geometric mean: readings from memory have a sharp lower bound (1 % of them below 0.85 of
  // their median where this was tried), while cache hits have a tail above (a page walk, a neighbour's
  // traffic). So the threshold belongs nearer to memory than to the cache.
  return {overhead, (hit + miss) / 2};
}

}  // namespace nvmemu
