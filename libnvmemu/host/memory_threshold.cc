// SPDX-License-Identifier: Apache-2.0
#include "host/memory_threshold.h"

#include <algorithm>
#include <cstddef>
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

// What 95 % of them exceed. Readings from memory have a sharp lower bound, wherever neighbours are; their
// median is that of two kinds where memory is busy (of 24 moments of such an hour: 190 to 311 ns; this, 150
// to 180).
double least_of_most(std::vector<double> readings) {
  const auto at = readings.begin() + static_cast<std::ptrdiff_t>(readings.size() / 20);
  std::nth_element(readings.begin(), at, readings.end());
  return *at;
}

}  // namespace

MemoryThreshold measure_memory_threshold(const Clock& clock, const ChaseBuffer& cached,
                                         const ChaseBuffer& from_memory) {
  const double overhead = median(readings_of_l1(clock));
  const void* line = chase(cached.start(), 2 * cached.loads());
  const double hit = median(readings_along(clock, cached, line));
  flush_ahead(from_memory.start(), kReadings);
  const double miss = least_of_most(readings_along(clock, from_memory, from_memory.start()));
  // Halfway, not the geometric mean: cache hits have a tail above them (a page walk, a neighbour's traffic).
  return {overhead, (hit + miss) / 2};
}

}  // namespace nvmemu
