// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"

#include <algorithm>
#include <array>
#include <limits>

#include "output/clocks.h"

namespace nvmemu::pmbench {
namespace {

using Value = std::optional<double>;

Value if_any(const RunView& run, double value) {
  return run.totals.all.count > 0 ? Value(value) : std::nullopt;
}

// The bands have no true sum, but the original's means per thread do not come from them.
Value mean_ns(const RunView& run) {
  if (!run.result.from_bands) return if_any(run, run.totals.all.mean_ns());
  double sum_ns = 0;
  for (const ThreadResult& thread : run.result.threads) {
    sum_ns += means_of(thread, run.result).net_ns * static_cast<double>(thread.accesses);
  }
  return run.totals.accesses > 0 ? Value(sum_ns / static_cast<double>(run.totals.accesses)) : std::nullopt;
}

template <int kPerTenThousand>
Value percentile_ns(const RunView& run) {
  return if_any(run, run.totals.all.percentile_ns(kPerTenThousand / 1e4));
}

Value process_count(const RunView& run, std::uint64_t count) {
  return run.result.from_bands ? std::nullopt : Value(static_cast<double>(count));
}

Value vmstat_major(const RunView& run) {
  const auto& faults = run.totals.vmstat_major_faults;
  return faults ? Value(static_cast<double>(*faults)) : std::nullopt;
}

Value if_major(const RunView& run, double value) {
  return run.major.basis == MajorFaults::Basis::kNone ? std::nullopt : Value(value);
}

Value overhead_ns(const RunView& run) {
  return run.medium_ns ? if_major(run, run.major.mean_ns - *run.medium_ns) : std::nullopt;
}

Value overhead_share(const RunView& run) {
  const Value overhead = overhead_ns(run);
  return overhead ? Value(*overhead / *run.medium_ns) : std::nullopt;
}

constexpr double kNever = std::numeric_limits<double>::infinity();

// Of the time that all accesses took, the share of those that took from `from_ns` to `to_ns`. All of it is
// found from the buckets, so that shares of adjoining ranges add up.
Value time_share(const RunView& run, double from_ns, double to_ns) {
  const LatencyCounts& all = run.totals.all;
  const double sum_ns = all.sum_above_ns(0);
  if (sum_ns <= 0) return std::nullopt;
  const double above_ns = to_ns < kNever ? all.sum_above_ns(to_ns) : 0;
  return std::clamp((all.sum_above_ns(from_ns) - above_ns) / sum_ns, 0.0, 1.0);
}

constexpr std::array kFigures{
    Figure{"accesses_per_s", "accesses/s", Unit::kPerSecond, Section::kComparison, false,
           [](const RunView& run) { return Value(run.totals.accesses_per_s); }},
    Figure{"mean_ns", "mean", Unit::kNanoseconds, Section::kComparison, false, mean_ns},
    Figure{"p50_ns", "p50", Unit::kNanoseconds, Section::kComparison, true, percentile_ns<5000>},
    Figure{"p99_ns", "p99", Unit::kNanoseconds, Section::kComparison, true, percentile_ns<9900>},
    Figure{"p99_9_ns", "p99.9", Unit::kNanoseconds, Section::kComparison, true, percentile_ns<9990>},
    Figure{"minor_faults", "minor faults", Unit::kCount, Section::kComparison, false,
           [](const RunView& run) { return process_count(run, run.result.minor_faults); }},
    Figure{"major_faults", "major faults", Unit::kCount, Section::kComparison, false,
           [](const RunView& run) { return process_count(run, run.result.major_faults); }},
    Figure{"vmstat_major_faults", "major (vmstat)", Unit::kCount, Section::kComparison, false, vmstat_major},

    Figure{"mean_all_ns", "mean, all accesses", Unit::kNanoseconds, Section::kPaging, false, mean_ns},
    Figure{"modal_major_fault_ns", "modal major fault", Unit::kNanoseconds, Section::kPaging, true,
           [](const RunView& run) { return if_major(run, run.major.mode_ns); }},
    Figure{"mean_major_fault_ns", "mean major fault", Unit::kNanoseconds, Section::kPaging, true,
           [](const RunView& run) { return if_major(run, run.major.mean_ns); }},
    Figure{"os_overhead_ns", "OS overhead", Unit::kNanoseconds, Section::kPaging, true, overhead_ns},
    Figure{"os_overhead_share", "overhead / medium", Unit::kShare, Section::kPaging, true, overhead_share},
    Figure{"time_over_100us_share", "time in accesses over 100 us", Unit::kShare, Section::kPaging, true,
           [](const RunView& run) { return time_share(run, 100e3, kNever); }},
    Figure{"time_over_1ms_share", "time in accesses over 1 ms", Unit::kShare, Section::kPaging, true,
           [](const RunView& run) { return time_share(run, 1e6, kNever); }},

    Figure{"time_below_500ns_share", "< 0.5 us", Unit::kShare, Section::kTimeSpent, true,
           [](const RunView& run) { return time_share(run, 0, 500); }},
    Figure{"time_500ns_to_3us_share", "0.5-3 us", Unit::kShare, Section::kTimeSpent, true,
           [](const RunView& run) { return time_share(run, 500, 3e3); }},
    Figure{"time_3us_to_50us_share", "3-50 us", Unit::kShare, Section::kTimeSpent, true,
           [](const RunView& run) { return time_share(run, 3e3, 50e3); }},
    Figure{"time_50us_to_500us_share", "50-500 us", Unit::kShare, Section::kTimeSpent, true,
           [](const RunView& run) { return time_share(run, 50e3, 500e3); }},
    Figure{"time_above_500us_share", "> 500 us", Unit::kShare, Section::kTimeSpent, true,
           [](const RunView& run) { return time_share(run, 500e3, kNever); }},
};

}  // namespace

RunView view_of(RunResult result, std::optional<double> medium_ns) {
  RunView run{std::move(result), {}, {}, medium_ns};
  run.totals = totals_of(run.result);
  run.major = major_faults_of(run.result, run.totals);
  return run;
}

std::span<const Figure> figures() { return kFigures; }

}  // namespace nvmemu::pmbench
