// SPDX-License-Identifier: Apache-2.0
#include "run/series.h"

#include <sys/resource.h>

#include <utility>

#include "base/clock.h"
#include "measure/residency.h"

namespace nvmemu::pmbench {
namespace {

FaultCounts process_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)};
}

}  // namespace

LatencyCounts counted_since(const std::array<std::uint32_t, Buckets::kCount>& before,
                            const std::array<std::uint32_t, Buckets::kCount>& now) {
  LatencyCounts counts;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::uint32_t count = now[i] - before[i];
    if (count == 0) continue;
    if (counts.count == 0) counts.min_ns = Buckets::begin_ns(i);
    counts.max_ns = (i + 1 < Buckets::kCount ? Buckets::begin_ns(i + 1) : Buckets::begin_ns(i) + 1) - 1;
    counts.counts[i] = count;
    counts.count += count;
  }
  return counts;
}

Series::Series(const Workers& workers, std::string cgroup)
    : workers_(workers),
      counters_(std::move(cgroup)),
      begin_ns_(monotonic_raw_ns()),
      last_ns_(begin_ns_),
      last_minor_(process_faults().minor),
      last_major_(process_faults().major),
      last_counts_(workers.counters()) {}

void Series::add(const std::string& phase) {
  SeriesPoint point;
  const std::uint64_t now_ns = monotonic_raw_ns();
  const std::uint64_t accesses = workers_.accesses();
  const auto counts = workers_.counters();
  const FaultCounts faults = process_faults();
  const LatencyCounts latencies = counted_since(last_counts_, counts);
  point.at_s = static_cast<double>(now_ns - begin_ns_) / 1e9;
  point.seconds = static_cast<double>(now_ns - last_ns_) / 1e9;
  point.phase = phase;
  point.accesses = accesses - last_accesses_;
  point.p50_ns = latencies.percentile_ns(0.5);
  point.p99_ns = latencies.percentile_ns(0.99);
  point.max_ns = static_cast<double>(latencies.max_ns);
  point.minor_faults = faults.minor - last_minor_;
  point.major_faults = faults.major - last_major_;
  point.counters = counters_.read();
  points_.push_back(std::move(point));
  last_ns_ = now_ns;
  last_accesses_ = accesses;
  last_minor_ = faults.minor;
  last_major_ = faults.major;
  last_counts_ = counts;
}

}  // namespace nvmemu::pmbench
