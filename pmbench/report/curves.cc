// SPDX-License-Identifier: Apache-2.0
#include "report/curves.h"

#include <algorithm>
#include <cmath>

namespace nvmemu::pmbench {
namespace {

constexpr std::uint64_t kEnough = 16;  // accesses, to tell something by

// The distance between the latencies that are there, where buckets are narrow: of a clock of 10 ns (AMD's, as
// virtual machines see it), 10. The middle one of all: there may be two clocks' offsets, and gaps. 1 where
// too little lies there.
double clock_step_ns(const LatencyCounts& counts) {
  constexpr std::uint64_t kNarrowNs = 256;
  constexpr double kCoarsestNs = 32;
  constexpr std::size_t kEnoughDistances = 8;
  std::vector<double> distances;
  double before_ns = -1;
  for (std::size_t i = 0; Buckets::begin_ns(i) < kNarrowNs; ++i) {
    if (counts.counts[i] < kEnough) continue;
    const auto at_ns = static_cast<double>(Buckets::begin_ns(i));
    if (before_ns >= 0) distances.push_back(at_ns - before_ns);
    before_ns = at_ns;
  }
  if (distances.size() < kEnoughDistances) return 1;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return std::min(*middle, kCoarsestNs);
}

void add(const std::string& name, const LatencyCounts& counts, double runs, double step_ns,
         std::vector<Curve>& curves) {
  if (counts.count > 0) curves.push_back({name, counts, runs, step_ns});
}

}  // namespace

std::vector<Curve> curves_of(const Comparison& comparison) {
  std::vector<Curve> curves;
  for (const Group& group : comparison.groups) {
    const auto runs = static_cast<double>(group.runs.size());
    const double reads_step_ns = clock_step_ns(group.reads);
    const double writes_step_ns = clock_step_ns(group.writes);
    if (comparison.groups.size() == 1) {
      add("reads", group.reads, runs, reads_step_ns, curves);
      add("writes", group.writes, runs, writes_step_ns, curves);
    } else {
      LatencyCounts all = group.reads;
      all.merge(group.writes);
      add(group.label, all, runs, std::max(reads_step_ns, writes_step_ns), curves);
    }
  }
  return curves;
}

double begin_of(std::size_t i) { return std::max(0.5, static_cast<double>(Buckets::begin_ns(i))); }
double end_of(std::size_t i, const Curve& curve) {
  if (i + 1 < Buckets::kCount) return begin_of(i + 1);
  return std::max(begin_of(i) * 1.01, static_cast<double>(curve.counts.max_ns));
}

std::pair<std::size_t, std::size_t> extent(const std::vector<Curve>& curves, double share) {
  std::size_t first = Buckets::kCount;
  std::size_t last = 0;
  for (const Curve& curve : curves) {
    const double little = share * static_cast<double>(curve.counts.count);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < Buckets::kCount; ++i) {
      if (curve.counts.counts[i] == 0) continue;
      sum += curve.counts.counts[i];
      if (static_cast<double>(sum) > little) first = std::min(first, i);
      last = std::max(last, i);
    }
  }
  return {first, last};
}

std::vector<Step> steps_of(const Curve& curve, std::size_t first, std::size_t last) {
  constexpr double kBucketsPerOctave = 1U << Buckets::kSubBits;
  constexpr double kWidest = 1.19;   // a quarter of an octave
  constexpr double kClockSteps = 3;  // as many or one more fall into a step
  const auto& counts = curve.counts.counts;
  // Where each latency has a bucket of its own, and a clock that tells them apart, there is nothing to even
  // out.
  const double narrow_ns = curve.clock_step_ns > 1 ? kClockSteps * curve.clock_step_ns : 0;
  std::vector<Step> steps;
  for (std::size_t i = first; i <= last;) {
    const double begin_ns = begin_of(i);
    std::uint64_t count = counts[i];
    std::size_t end = i + 1;
    const auto is_too_narrow = [&] { return end_of(end - 1, curve) - begin_ns < narrow_ns; };
    const auto has_too_few = [&] { return count < kEnough && end_of(end, curve) < begin_ns * kWidest; };
    for (; count != 0 && end <= last && (is_too_narrow() || has_too_few()); ++end) count += counts[end];
    // What lies between two steps of the clock is the former's.
    std::size_t next = end;
    while (count != 0 && next <= last && counts[next] == 0) ++next;
    if (next <= last && begin_of(next) - begin_of(end) < curve.clock_step_ns) end = next;
    const double end_ns = end_of(end - 1, curve);
    const double width = kBucketsPerOctave * std::log2(end_ns / begin_ns);
    steps.push_back({begin_ns, end_ns, static_cast<double>(count) / curve.runs / width});
    i = end;
  }
  return steps;
}

}  // namespace nvmemu::pmbench
