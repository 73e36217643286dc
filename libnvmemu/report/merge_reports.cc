// SPDX-License-Identifier: Apache-2.0
#include "report/merge_reports.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error_bar.h"
#include "report/number_tables.h"
#include "report/paging_fields.h"
#include "report/storage_fields.h"

namespace nvmemu {
namespace {

constexpr double kSameTarget = 0.25;

// The delays' errors are independent, so their squares add; a report that injected, and does not know how
// well, leaves the sum unknown.
void merge_errors(const std::vector<RunReport>& reports, RunReport& merged) {
  double squares = 0;
  bool known = merged.totals.injected_ns > 0;
  for (const RunReport& report : reports) {
    if (report.totals.injected_ns <= 0) continue;
    known = known && report.error_relative_95.has_value();
    squares += std::pow(report.error_relative_95.value_or(0) * report.totals.injected_ns, 2);
  }
  merged.error_from = std::to_string(reports.size()) + " reports' own errors, taken as independent";
  merged.error_relative_95.reset();
  if (!known) return;
  merged.error_relative_95 = std::max(kLeastError, std::sqrt(squares) / merged.totals.injected_ns);
}

// Of the CPU time of those that counted.
std::optional<double> merged_share(const std::vector<RunReport>& reports) {
  double cpu_ns = 0;
  double counted_ns = 0;
  std::optional<double> share;
  for (const RunReport& report : reports) {
    if (!report.counted_share) continue;
    share = 0;
    cpu_ns += report.totals.cpu_ns;
    counted_ns += *report.counted_share * report.totals.cpu_ns;
  }
  if (share && cpu_ns > 0) share = counted_ns / cpu_ns;
  return share;
}

bool same_target(const RunReport& a, const RunReport& b) {
  const double a_ns = a.target.read_latency_ns.value_or(0);
  const double b_ns = b.target.read_latency_ns.value_or(0);
  return a.model == b.model && a.target.read_bandwidth_bps == b.target.read_bandwidth_bps &&
         a.target.write_bandwidth_bps == b.target.write_bandwidth_bps &&
         std::ranges::equal(a.tiers, b.tiers, {}, &TierReport::name, &TierReport::name) &&
         std::abs(a_ns - b_ns) <= kSameTarget * std::max(a_ns, b_ns);
}

// Each rank had a limit of its own, and its own time: sums are all that can be said of them together.
void merge_bandwidth(const BandwidthReport& bandwidth, BandwidthReport& merged) {
  merged.is_measured |= bandwidth.is_measured;
  merged.read_bytes += bandwidth.read_bytes;
  merged.written_bytes += bandwidth.written_bytes;
  merged.held_ns += bandwidth.held_ns;
}

void merge_one(const RunReport& report, RunReport& merged) {
  merged.exit_status = std::max(merged.exit_status, report.exit_status);
  merged.wall_seconds = std::max(merged.wall_seconds, report.wall_seconds);
  merged.base_spread = std::max(merged.base_spread, report.base_spread);
  if (merged.ticker != report.ticker) merged.ticker = "mixed";
  if (merged.source_name != report.source_name) merged.source_name = "mixed";
  if (merged.source_design != report.source_design) merged.source_design = "mixed";
  if (merged.source_quality != report.source_quality) merged.source_quality = "mixed";
  merged.totals.threads += report.totals.threads;
  merged.totals.unpaid_ns += report.totals.unpaid_ns;
  add_thread(merged.totals, report.totals);
  merged.walks.walks += report.walks.walks;
  merged.walks.instructions += report.walks.instructions;
  for (const auto& [what, count] : report.walks.passed) merged.walks.passed[what] += count;
  for (const auto& [why, count] : report.walks.ended_by) merged.walks.ended_by[why] += count;
  merge_bandwidth(report.bandwidth, merged.bandwidth);
  add_paging(report.paging, merged.paging);
  add_storage(report.storage, merged.storage);
  add_numbers(merged.migrations, report.migrations);
  add_numbers(merged.persists, report.persists);
  for (std::size_t i = 0; i < merged.tiers.size(); ++i) add_numbers(merged.tiers[i], report.tiers[i]);
  merged.places.insert(merged.places.end(), report.places.begin(), report.places.end());
  merged.processes.insert(merged.processes.end(), report.processes.begin(), report.processes.end());
  for (const std::string& warning : report.warnings) {
    if (std::find(merged.warnings.begin(), merged.warnings.end(), warning) == merged.warnings.end())
      merged.warnings.push_back(warning);
  }
}

}  // namespace

Result<RunReport> merge_reports(const std::vector<RunReport>& reports) {
  RunReport merged = reports.front();
  merged.totals = {};
  merged.walks = {};
  merged.paging = asked_for(merged.paging);  // added below
  if (reports.size() == 1) merged.paging.endurance = reports.front().paging.endurance;
  merged.storage.clear();  // likewise
  clear_numbers(merged.migrations);
  clear_numbers(merged.persists);
  for (TierReport& tier : merged.tiers) {
    clear_numbers(tier);
    if (reports.size() > 1) tier.share_error_95.reset();
  }
  if (reports.size() > 1) merged.alternation = {};
  merged.processes.clear();
  merged.places.clear();
  if (reports.size() > 1) {
    merged.bandwidth = {};
    merged.bandwidth.by = reports.front().bandwidth.by;
    merged.bandwidth.why = reports.front().bandwidth.why;
    merged.bandwidth.error_from = "several reports: each has its own";
  } else {
    merged.bandwidth.read_bytes = merged.bandwidth.written_bytes = merged.bandwidth.held_ns =
        0;  // added below
  }
  double base_sum_ns = 0;
  double target_sum_ns = 0;
  for (const RunReport& report : reports) {
    if (!same_target(reports.front(), report)) {
      return failure("the reports are of different targets or models", "merge those of one run only");
    }
    merge_one(report, merged);
    base_sum_ns += report.base_read_latency_ns;
    target_sum_ns += report.target.read_latency_ns.value_or(0);
  }
  const auto count = static_cast<double>(reports.size());
  merged.base_read_latency_ns = base_sum_ns / count;
  merged.counted_share = merged_share(reports);
  if (merged.target.read_latency_ns) merged.target.read_latency_ns = target_sum_ns / count;
  if (reports.size() > 1) merge_errors(reports, merged);
  return merged;
}

}  // namespace nvmemu
