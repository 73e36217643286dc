// SPDX-License-Identifier: Apache-2.0
#include "report/report_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/read_file.h"

namespace nvmemu {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "nvmemu-run-1";
constexpr double kSameTarget = 0.25;

std::optional<double> optional_number(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

// Of a field that may be null, or be missing.
std::string optional_text(const Json& json, const char* field) {
  const Json value = json.value(field, Json());
  return value.is_null() ? std::string() : value.get<std::string>();
}

// These throw Json::exception, which names the field; parse_report() makes an error of it.
ThreadReport thread_of(const Json& json) {
  return {json.at("tid"),         json.at("name"),      json.at("epochs"),
          json.at("cpu_ns"),      json.at("stall_ns"),  json.at("injected_ns"),
          json.at("overhead_ns"), json.at("unpaid_ns"), json.at("ended")};
}

ProcessReport process_of(const Json& json) {
  ProcessReport process{
      json.at("pid"), json.at("ppid"), json.at("command"), json.value("emulated", true), {}};
  for (const Json& thread : json.at("threads")) process.threads.push_back(thread_of(thread));
  return process;
}

RunTotals totals_of(const Json& json) {
  return {json.at("threads"),     json.at("epochs"),      json.at("samples"),
          json.at("probes"),      json.at("cpu_ns"),      json.at("stall_ns"),
          json.at("injected_ns"), json.at("overhead_ns"), json.at("unpaid_ns")};
}

Device target_of(const Json& json) {
  Device device;
  device.read_latency_ns = optional_number(json.at("read_latency_ns"));
  device.write_latency_ns = optional_number(json.at("write_latency_ns"));
  device.read_bandwidth_bps = optional_number(json.at("read_bandwidth_bps"));
  device.write_bandwidth_bps = optional_number(json.at("write_bandwidth_bps"));
  return device;
}

TrafficSeries::OverTime over_time_of(const Json& json) {
  TrafficSeries::OverTime over_time{json.at("step_seconds"), {}};
  const auto read = json.at("read_bps").get<std::vector<double>>();
  const auto written = json.at("write_bps").get<std::vector<double>>();
  for (std::size_t i = 0; i < std::min(read.size(), written.size()); ++i)
    over_time.steps.push_back({read[i] * over_time.step_seconds, written[i] * over_time.step_seconds, 0});
  return over_time;
}

BandwidthReport bandwidth_of(const Json& json) {
  BandwidthReport bandwidth;
  if (json.is_null()) return bandwidth;
  bandwidth.is_measured = true;
  if (!json.at("by").is_null()) json.at("by").get_to(bandwidth.by);
  json.at("why").get_to(bandwidth.why);
  json.at("read_bytes").get_to(bandwidth.read_bytes);
  json.at("written_bytes").get_to(bandwidth.written_bytes);
  json.at("held_ns").get_to(bandwidth.held_ns);
  bandwidth.read_reached_bps = optional_number(json.at("read_reached_bps"));
  bandwidth.write_reached_bps = optional_number(json.at("write_reached_bps"));
  bandwidth.error_relative_95 = optional_number(json.at("error").at("relative_95"));
  json.at("error").at("from").get_to(bandwidth.error_from);
  bandwidth.over_time = over_time_of(json.at("over_time"));
  return bandwidth;
}

RunReport report_of(const Json& json) {
  RunReport report;
  json.at("command").get_to(report.command);
  json.at("exit_status").get_to(report.exit_status);
  json.at("wall_seconds").get_to(report.wall_seconds);
  json.at("source").at("name").get_to(report.source_name);
  json.at("source").at("why").get_to(report.source_why);
  json.at("source").at("ticker").get_to(report.ticker);
  report.source_design = optional_text(json.at("source"), "design");
  report.source_quality = optional_text(json.at("source"), "quality");
  report.counted_share = optional_number(json.at("source").value("counted_share", Json()));
  json.at("model").get_to(report.model);
  report.base_read_latency_ns = optional_number(json.at("base").at("read_latency_ns")).value_or(0);
  report.base_at_start_ns =
      optional_number(json.at("base").value("at_start_ns", Json())).value_or(report.base_read_latency_ns);
  json.at("base").at("read_latency_spread").get_to(report.base_spread);
  const Json& target = json.at("target");
  if (!target.at("profile").is_null()) target.at("profile").get_to(report.target_profile);
  report.target = target_of(target);
  report.error_relative_95 = optional_number(json.at("error").at("relative_95"));
  json.at("error").at("from").get_to(report.error_from);
  json.at("warnings").get_to(report.warnings);
  report.totals = totals_of(json.at("totals"));
  report.bandwidth = bandwidth_of(json.at("bandwidth"));
  for (const Json& process : json.at("processes")) report.processes.push_back(process_of(process));
  return report;
}

void add(RunTotals& sum, const RunTotals& totals) {
  sum.threads += totals.threads;
  sum.epochs += totals.epochs;
  sum.samples += totals.samples;
  sum.probes += totals.probes;
  sum.cpu_ns += totals.cpu_ns;
  sum.stall_ns += totals.stall_ns;
  sum.injected_ns += totals.injected_ns;
  sum.overhead_ns += totals.overhead_ns;
  sum.unpaid_ns += totals.unpaid_ns;
}

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
  if (known) merged.error_relative_95 = std::sqrt(squares) / merged.totals.injected_ns;
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
  add(merged.totals, report.totals);
  merge_bandwidth(report.bandwidth, merged.bandwidth);
  merged.processes.insert(merged.processes.end(), report.processes.begin(), report.processes.end());
  for (const std::string& warning : report.warnings) {
    if (std::find(merged.warnings.begin(), merged.warnings.end(), warning) == merged.warnings.end())
      merged.warnings.push_back(warning);
  }
}

}  // namespace

Result<RunReport> parse_report(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    const std::string schema = json.is_object() ? json.value("schema", "") : "";
    if (schema != kSchema) {
      return failure(
          schema.empty() ? "it is no run report: it names no schema" : "its schema is '" + schema + "'",
          std::string("reports of schema ") + kSchema + " are made by nvmemu run --report FILE.json");
    }
    return report_of(json);
  } catch (const Json::exception& error) {
    return failure(std::string("it is no whole run report: ") + error.what());
  }
}

Result<RunReport> read_report(const std::string& path) {
  const Result<std::string> text = read_whole_file(path, kMostOfResults);
  if (!text) return tl::unexpected(text.error());
  Result<RunReport> report = parse_report(*text);
  if (!report) return failure(path + ": " + report.error().message, report.error().hint);
  return report;
}

Result<RunReport> merge_reports(const std::vector<RunReport>& reports) {
  RunReport merged = reports.front();
  merged.totals = {};
  merged.processes.clear();
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
  double start_sum_ns = 0;
  double target_sum_ns = 0;
  for (const RunReport& report : reports) {
    if (!same_target(reports.front(), report)) {
      return failure("the reports are of different targets or models", "merge those of one run only");
    }
    merge_one(report, merged);
    base_sum_ns += report.base_read_latency_ns;
    start_sum_ns += report.base_at_start_ns;
    target_sum_ns += report.target.read_latency_ns.value_or(0);
  }
  const auto count = static_cast<double>(reports.size());
  merged.base_read_latency_ns = base_sum_ns / count;
  merged.base_at_start_ns = start_sum_ns / count;
  merged.counted_share = merged_share(reports);
  if (merged.target.read_latency_ns) merged.target.read_latency_ns = target_sum_ns / count;
  if (reports.size() > 1) merge_errors(reports, merged);
  return merged;
}

}  // namespace nvmemu
