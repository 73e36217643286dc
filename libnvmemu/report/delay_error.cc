// SPDX-License-Identifier: Apache-2.0
#include "report/delay_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error_bar.h"

namespace nvmemu {
namespace {

// A delay that is known to no better than its own size.
constexpr double kTellsNothing = 1;

// Counting has no statistical error. What the events leave out is the design's, and only of designs that
// count what is asked for is it known to be little.
void estimate_counted_error(RunReport& report) {
  report.error_relative_95.reset();
  const double cpu_ns = report.totals.cpu_ns;
  report.counted_share = cpu_ns > 0 ? std::min(1.0, report.totals.counted_ns / cpu_ns) : 0;
  const double share = *report.counted_share;
  if (share <= 0) {
    report.error_from = "nothing was measured";
    return;
  }
  report.error_from = fmt::format(
      "hardware counters ({}, {}) that saw {:.0f} % of the CPU time, base latency spread {:.1f} %",
      report.source_design, report.source_quality, 100 * share, 100 * report.base_spread);
  if (report.source_quality == "good" && share >= kSeenThroughout) {
    report.error_relative_95 = std::max(kLeastError, report.base_spread / 2);
    report.error_from += "; not in it: what out-of-order execution hid, see docs/report.md";
  } else {
    report.error_from += "; how far they are off is not known, see docs/counters.md";
  }
}

// What nobody has seen missing, where that is more than a little.
std::string told_unwalked(const RunTotals& totals) {
  constexpr double kLittle = 0.01;
  const double share = totals.unwalked_ns / totals.stall_ns;
  if (share < kLittle) return "";
  return fmt::format("; {:.0f} % of the wait is of loads that no walk has passed, by what others missed",
                     100 * share);
}

}  // namespace

// The delay is proportional to the stall time and to (target - base) over what a miss takes. The first is
// estimated, with a known variance; for the second, half the spread of the base latency's repetitions stands
// in.
void estimate_error(const SampledRun& time, RunReport& report) {
  if (is_counted(report)) return estimate_counted_error(report);
  report.counted_share.reset();
  const RunTotals& totals = report.totals;
  report.error_relative_95.reset();
  if (totals.stall_samples == 0) {
    report.error_from = "nothing was measured";
    return;
  }
  if (const std::string silent = time.who_is_silent(); !silent.empty()) {
    report.error_from = fmt::format("{}: not sampled", silent);
    return;
  }
  if (totals.stall_ns <= 0) {
    report.error_from = fmt::format(
        "{:.0f} samples of loads and {:.0f} timed loads found no wait for memory, so there is no delay to "
        "have an error",
        totals.stall_samples, totals.probes);
    return;
  }
  if (totals.stall_samples < kFewSamples) {
    report.error_from = fmt::format("{:.0f} samples of loads are too few to tell", totals.stall_samples);
    return;
  }
  const double statistical = 1.96 * std::sqrt(totals.stall_variance_ns2()) / totals.stall_ns;
  if (statistical > kTellsNothing) {
    report.error_from = fmt::format(
        "{:.0f} samples of loads and {:.0f} timed loads found hardly any wait for memory: what was injected, "
        "{:.1f} % "
        "of "
        "the CPU time, cannot be told from none",
        totals.stall_samples, totals.probes, 100 * totals.injected_ns / totals.cpu_ns);
    return;
  }
  report.error_relative_95 = std::max(kLeastError, std::hypot(statistical, report.base_spread / 2));
  report.error_from = fmt::format(
      "{:.0f} samples of loads, {:.0f} timed loads, base latency spread {:.1f} %{}; not in it: an error of "
      "the model of what out-of-order execution hid, see docs/report.md",
      totals.stall_samples, totals.probes, 100 * report.base_spread, told_unwalked(totals));
}

}  // namespace nvmemu
