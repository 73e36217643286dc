// SPDX-License-Identifier: Apache-2.0
#include "output/touch_figures.h"

#include <algorithm>

namespace nvmemu::pmbench {
namespace {

constexpr double kVerySlowNs = 100e3;

using Value = std::optional<double>;

Value ratio(double part, double whole) { return whole > 0 ? Value(part / whole) : std::nullopt; }

template <int kTenThousandths>
Value percentile(const TouchRun& run) {
  return run.undisturbed().percentile_ns(kTenThousandths / 10'000.0);
}

const LatencyCounts& preempted(const TouchRun& run) {
  return run.classes[static_cast<std::size_t>(TouchClass::kPreempted)];
}

double sum_ns(const TouchRun& run) {
  return static_cast<double>(run.undisturbed().sum_ns + preempted(run).sum_ns);
}

template <const char* const& kKey>
Value counter(const TouchRun& run) {
  return run.reclaim.counter(kKey);
}

constexpr const char* kSwappedOut = "pswpout";
constexpr const char* kSwappedIn = "pswpin";
constexpr const char* kByKswapd = "pgsteal_kswapd";
constexpr const char* kDirectly = "pgsteal_direct";
constexpr const char* kHugeFaults = "thp_fault_alloc";
constexpr const char* kHugeOut = "thp_swpout";
constexpr const char* kHugeSplit = "thp_swpout_fallback";

constexpr TouchFigure kFigures[] = {
    {"p50_ns", "50 %", Unit::kNanoseconds, TouchSection::kLatency, percentile<5000>},
    {"p95_ns", "95 %", Unit::kNanoseconds, TouchSection::kLatency, percentile<9500>},
    {"p99_ns", "99 %", Unit::kNanoseconds, TouchSection::kLatency, percentile<9900>},
    {"p99_9_ns", "99.9 %", Unit::kNanoseconds, TouchSection::kLatency, percentile<9990>},
    {"p99_99_ns", "99.99 %", Unit::kNanoseconds, TouchSection::kLatency, percentile<9999>},
    {"max_ns", "max", Unit::kNanoseconds, TouchSection::kLatency,
     [](const TouchRun& run) { return Value(static_cast<double>(run.undisturbed().max_ns)); }},

    {"loop_ns", "time", Unit::kNanoseconds, TouchSection::kTime,
     [](const TouchRun& run) { return Value(run.loop_ns); }},
    {"between_share", "others', between", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) { return ratio(run.between_ns, run.loop_ns); }},
    {"touches_share", "touches, of the rest", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) { return ratio(sum_ns(run), run.loop_ns - run.between_ns); }},
    {"touches_over_100us_share", "touches > 100 us", Unit::kSmallShare, TouchSection::kTime,
     [](const TouchRun& run) {
       const LatencyCounts all = run.undisturbed();
       return ratio(all.count_above(kVerySlowNs), static_cast<double>(all.count));
     }},
    {"time_over_100us_share", "their time", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) {
       const LatencyCounts all = run.undisturbed();
       return ratio(all.sum_above_ns(kVerySlowNs), static_cast<double>(all.sum_ns));
     }},
    {"time_of_slowest_1_percent_share", "slowest 1 %: time", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) { return Value(time_share_of_slowest(run.undisturbed(), 0.01)); }},
    {"time_of_slowest_share", "slowest one: time", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) {
       const LatencyCounts all = run.undisturbed();
       return ratio(static_cast<double>(all.max_ns), static_cast<double>(all.sum_ns));
     }},
    {"preempted", "preempted", Unit::kCount, TouchSection::kTime,
     [](const TouchRun& run) { return Value(static_cast<double>(preempted(run).count)); }},
    {"preempted_time_share", "their time", Unit::kShare, TouchSection::kTime,
     [](const TouchRun& run) { return ratio(static_cast<double>(preempted(run).sum_ns), sum_ns(run)); }},

    {"swapped_out_pages", "swapped out", Unit::kCount, TouchSection::kReclaim, counter<kSwappedOut>},
    {"swapped_in_pages", "in, pages", Unit::kCount, TouchSection::kReclaim, counter<kSwappedIn>},
    {"major_faults", "major faults", Unit::kCount, TouchSection::kReclaim,
     [](const TouchRun& run) { return Value(static_cast<double>(run.major_faults)); }},
    {"kswapd_cpu_share", "kswapd, of a CPU", Unit::kShare, TouchSection::kReclaim,
     [](const TouchRun& run) { return ratio(run.reclaim.kswapd_s(), run.reclaim.seconds); }},
    {"kswapd_of_task_share", "of the task's CPU", Unit::kShare, TouchSection::kReclaim,
     [](const TouchRun& run) { return ratio(run.reclaim.kswapd_s() * 1e9, run.cpu_ns); }},
    {"reclaimed_by_kswapd_pages", "reclaimed by kswapd", Unit::kCount, TouchSection::kReclaim,
     counter<kByKswapd>},
    {"reclaimed_directly_pages", "directly", Unit::kCount, TouchSection::kReclaim, counter<kDirectly>},
    {"reclaimed_by_kswapd_share", "kswapd's share", Unit::kShare, TouchSection::kReclaim,
     [](const TouchRun& run) {
       const double by_kswapd = run.reclaim.counter(kByKswapd);
       return ratio(by_kswapd, by_kswapd + run.reclaim.counter(kDirectly));
     }},
    {"huge_faults", "huge faults", Unit::kCount, TouchSection::kReclaim, counter<kHugeFaults>},
    {"huge_pages_out", "huge pages out whole", Unit::kCount, TouchSection::kReclaim, counter<kHugeOut>},
    {"huge_pages_split", "split", Unit::kCount, TouchSection::kReclaim, counter<kHugeSplit>},
};

}  // namespace

std::span<const TouchFigure> touch_figures() { return kFigures; }

Estimate estimate_of(const TouchFigure& figure, const TouchCase& one) {
  std::vector<double> values;
  for (const TouchRun& run : one.runs) {
    if (const auto value = figure.of(run)) values.push_back(*value);
  }
  return estimate(values);
}

std::string text_of(const TouchFigure& figure, const Estimate& estimate) {
  if (estimate.runs == 0) return "-";
  const std::string mean = format_figure(estimate.mean, figure.unit);
  return estimate.half_width_95 ? mean + " +- " + format_half_width(*estimate.half_width_95, figure.unit)
                                : mean;
}

double time_share_of_slowest(const LatencyCounts& counts, double share) {
  if (counts.sum_ns == 0) return 0;
  double left = share * static_cast<double>(counts.count);
  double sum = 0;
  for (std::size_t i = counts.counts.size(); i-- > 0 && left > 0;) {
    const double taken = std::min(left, static_cast<double>(counts.counts[i]));
    const double middle = i + 1 < Buckets::kCount
                              ? static_cast<double>(Buckets::begin_ns(i) + Buckets::begin_ns(i + 1) - 1) / 2
                              : static_cast<double>(counts.max_ns);
    sum += taken * middle;
    left -= taken;
  }
  return std::min(1.0, sum / static_cast<double>(counts.sum_ns));
}

}  // namespace nvmemu::pmbench
