// SPDX-License-Identifier: Apache-2.0
// The run second by second.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/histogram.h"
#include "run/result.h"
#include "run/workers.h"
#include "system/counters.h"

namespace nvmemu::pmbench {

// Latencies that a set of counters has counted since it stood at `before`; both modulo 2^32.
LatencyCounts counted_since(const std::array<std::uint32_t, Buckets::kCount>& before,
                            const std::array<std::uint32_t, Buckets::kCount>& now);

class Series {
 public:
  // Starts now.
  Series(const Workers& workers, std::string cgroup);

  // A point for what has passed since the last one, or the start.
  void add(const std::string& phase);

  const std::vector<SeriesPoint>& points() const noexcept { return points_; }

 private:
  const Workers& workers_;
  Counters counters_;
  std::uint64_t begin_ns_, last_ns_;
  std::uint64_t last_accesses_ = 0;
  std::uint64_t last_minor_, last_major_;
  std::array<std::uint32_t, Buckets::kCount> last_counts_;
  std::vector<SeriesPoint> points_;
};

}  // namespace nvmemu::pmbench
