// SPDX-License-Identifier: Apache-2.0
#include "report/report_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/quote.h"
#include "base/read_file.h"
#include "report/number_tables.h"
#include "report/paging_fields.h"
#include "report/report_fields.h"
#include "report/storage_fields.h"

namespace nvmemu {
namespace {

constexpr const char* kSchema = "nvmemu-run-1";
constexpr double kShortestStep = 1e-6;  // seconds; bytes are divided by it

template <typename Report>
void read_number(const Fields& fields, const CountRow<Report>& row, Report& report) {
  report.*row.member = fields.count(row.name, row.most);
}
template <typename Report>
void read_number(const Fields& fields, const NumberRow<Report>& row, Report& report) {
  report.*row.member = row.is_newer ? fields.number_or_nothing(row.name, row.range).value_or(0)
                                    : fields.number(row.name, row.range);
}
template <typename Report>
void read_numbers(const Fields& fields, Report& report) {
  for_each_number<Report>([&](const auto& row) { read_number(fields, row, report); });
}

NumberRange range_of(QuantityUnit unit) {
  return unit == QuantityUnit::kCount ? NumberRange{0, static_cast<double>(kMostCounted)} : kNanoseconds;
}

void read_quantities(const Fields& fields, Quantities& sums) {
  for_each_quantity<kOnBoards | kInReports>([&](const QuantityRow& row, std::size_t) {
    const NumberRange range = range_of(row.unit);
    row.of(sums) = (row.places & kSinceTheFirst) != 0 ? fields.number(row.name, range)
                                                      : fields.number_or_nothing(row.name, range).value_or(0);
  });
}

ThreadReport thread_of(const Fields& fields) {
  ThreadReport thread;
  thread.tid = static_cast<std::uint32_t>(fields.count("tid", kMostPid));
  thread.name = fields.text("name");
  thread.unpaid_ns = fields.number("unpaid_ns", kSignedNanoseconds);
  thread.ended = fields.flag("ended");
  read_quantities(fields, thread);
  return thread;
}

ProcessReport process_of(const Fields& fields) {
  ProcessReport process{static_cast<std::uint32_t>(fields.count("pid", kMostPid)),
                        static_cast<std::uint32_t>(fields.count("ppid", kMostPid)),
                        fields.text("command"),
                        fields.flag_or("emulated", true),
                        {}};
  const Fields::Json& threads = fields.array("threads");
  for (std::size_t i = 0; i < threads.size(); ++i)
    process.threads.push_back(thread_of(fields.element("threads", threads[i], i)));
  return process;
}

RunTotals totals_of(const Fields& fields) {
  RunTotals totals;
  totals.threads = fields.count("threads", kMostThreads);
  totals.unpaid_ns = fields.number("unpaid_ns", kSignedNanoseconds);
  read_quantities(fields, totals);
  return totals;
}

Device target_of(const Fields& fields) {
  Device device;
  device.read_latency_ns = fields.number_or_null("read_latency_ns", kLatencyNs);
  device.write_latency_ns = fields.number_or_null("write_latency_ns", kLatencyNs);
  device.read_bandwidth_bps = fields.number_or_null("read_bandwidth_bps", kBytesPerSecond);
  device.write_bandwidth_bps = fields.number_or_null("write_bandwidth_bps", kBytesPerSecond);
  return device;
}

TrafficSeries::OverTime over_time_of(const Fields& fields) {
  TrafficSeries::OverTime over_time{fields.number("step_seconds", kSeconds), {}};
  const std::vector<double> read = fields.numbers("read_bps", kBytesPerSecond);
  const std::vector<double> written = fields.numbers("write_bps", kBytesPerSecond);
  if (!read.empty() && over_time.step_seconds < kShortestStep)
    throw FieldError("'bandwidth.over_time.step_seconds' is too short");
  for (std::size_t i = 0; i < std::min(read.size(), written.size()); ++i)
    over_time.steps.push_back({read[i] * over_time.step_seconds, written[i] * over_time.step_seconds, 0});
  return over_time;
}

BandwidthReport bandwidth_of(const Fields& fields) {
  BandwidthReport bandwidth;
  bandwidth.is_measured = true;
  bandwidth.by = fields.text_or_null("by");
  bandwidth.why = fields.text("why");
  bandwidth.read_bytes = fields.number("read_bytes", kBytes);
  bandwidth.written_bytes = fields.number("written_bytes", kBytes);
  bandwidth.held_ns = fields.number("held_ns", kNanoseconds);
  bandwidth.read_reached_bps = fields.number_or_null("read_reached_bps", kBytesPerSecond);
  bandwidth.write_reached_bps = fields.number_or_null("write_reached_bps", kBytesPerSecond);
  const Fields error = fields.object("error");
  bandwidth.error_relative_95 = error.number_or_null("relative_95", kRelative);
  bandwidth.error_from = error.text("from");
  bandwidth.over_time = over_time_of(fields.object("over_time"));
  return bandwidth;
}

void read_source(const Fields& source, RunReport& report) {
  report.source_name = source.text("name");
  report.source_why = source.text("why");
  report.ticker = source.text("ticker");
  report.source_design = source.text_or_null("design");
  report.source_quality = source.text_or_null("quality");
  report.counted_share = source.number_or_nothing("counted_share", kShare);
}

void read_base(const Fields& base, RunReport& report) {
  report.base_read_latency_ns = base.number_or_null("read_latency_ns", kLatencyNs).value_or(0);
  base.number_or_nothing("at_start_ns", kLatencyNs);  // no more than looked at: see json.cc
  report.base_spread = base.number("read_latency_spread", kRelative);
}

WalkReport walks_of(const Fields& fields) {
  return {.walks = fields.count("walks", kMostCounted),
          .instructions = fields.count("instructions", kMostCounted),
          .passed = fields.counts("passed", kMostCounted),
          .ended_by = fields.counts("ended_by", kMostCounted)};
}

AlternationReport alternation_of(const Fields& fields) {
  AlternationReport alternation;
  alternation.window_seconds = fields.number("window_seconds", kSeconds);
  const Fields::Json& windows = fields.array("windows");
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Fields window = fields.element("windows", windows[i], i);
    alternation.windows.push_back(
        {.delays = window.flag("delays"),
         .begin_seconds = window.number("begin_seconds", kSeconds),
         .seconds = window.number("seconds", kSeconds),
         .progress = window.number("progress", kProgress),
         .measuring = window.number("measuring", kShare),
         .cpu_seconds = window.number_or_nothing("cpu_seconds", kCpuSeconds).value_or(0)});
  }
  if (!fields.is_null("slowdown")) {
    const Fields slowdown = fields.object("slowdown");
    alternation.slowdown = {
        slowdown.number("median", kSlowdown), slowdown.number("lower_quartile", kSlowdown),
        slowdown.number("upper_quartile", kSlowdown), slowdown.count("windows", kMostCounted)};
  }
  return alternation;
}

PersistReport persists_of(const Fields& fields) {
  PersistReport persists{.is_emulated = true, .native_ns = fields.number("native_ns", kLatencyNs)};
  read_numbers(fields, persists);
  return persists;
}

MigrationReport migrations_of(const Fields& fields) {
  MigrationReport migrations{.policy = fields.text("policy")};
  read_numbers(fields, migrations);
  return migrations;
}

std::vector<TierReport> tiers_of(const Fields& fields) {
  std::vector<TierReport> tiers;
  const Fields::Json& all = fields.array("tiers");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Fields tier = fields.element("tiers", all[i], i);
    TierReport report{.name = tier.text("name"),
                      .profile = tier.text_or_null("profile"),
                      .read_latency_ns = tier.number("read_latency_ns", kLatencyNs),
                      .rule = tier.text("rule"),
                      .has_the_rest = tier.flag("has_the_rest")};
    read_numbers(tier, report);
    report.share_error_95 = tier.number_or_nothing("share_error_95", kShare);
    tiers.push_back(std::move(report));
  }
  return tiers;
}

std::vector<PlaceReport> places_of(const Fields& fields) {
  std::vector<PlaceReport> places;
  const Fields::Json& all = fields.array("places");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Fields place = fields.element("places", all[i], i);
    places.push_back({.pid = place.count("pid", kMostCounted),
                      .name = place.text_or_null("name"),
                      .site = place.text_or_null("site"),
                      .begin = place.number("begin", kBytes),
                      .bytes = place.number("bytes", kBytes),
                      .stall_ns = place.number("stall_ns", kNanoseconds)});
  }
  return places;
}

FaultReport faults_of(const Fields& fields) {
  const auto ns = [&fields](const char* name) {
    return fields.number_or_null(name, kNanoseconds).value_or(0);
  };
  FaultReport faults{.faults = fields.count("faults", kMostCounted),
                     .mean_ns = ns("mean_ns"),
                     .median_ns = ns("median_ns"),
                     .p99_ns = ns("p99_ns"),
                     .p999_ns = ns("p999_ns")};
  const Fields::Json& histogram = fields.array("histogram");
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    const Fields bucket = fields.element("histogram", histogram[i], i);
    faults.histogram.push_back({bucket.number("begin_ns", kNanoseconds),
                                bucket.number("end_ns", kNanoseconds), bucket.count("faults", kMostCounted)});
  }
  return faults;
}

PagingReport paging_of(const Fields& fields) {
  PagingReport paging;
  paging.page_to = fields.text("page_to");
  for (const auto& [name, member] : kPagingTexts) paging.*member = fields.text_or_null(name);
  for (const auto& [name, member] : kPagingSizes) paging.*member = fields.number(name, kBytes);
  for (const auto& [name, member, is_newer] : kPagingFaults) {
    if (!is_newer || fields.has(name)) paging.*member = faults_of(fields.object(name));
  }
  for (const auto& [name, member] : kPagingCounts) paging.*member = fields.count(name, kMostCounted);
  paging.device_ns = fields.number("device_ns", kNanoseconds);
  if (!fields.is_null("wear")) {
    const Fields& wear = fields.object("wear");
    paging.endurance = {.capacity_bytes = wear.number("capacity_bytes", kBytes),
                        .erase_cycles = wear.number("erase_cycles", kEraseCycles),
                        .erase_block_bytes = wear.number("erase_block_bytes", kBytes)};
  }
  return paging;
}

std::vector<StorageReport> storage_of(const Fields& fields) {
  std::vector<StorageReport> storage;
  const Fields::Json& all = fields.array("storage");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Fields one = fields.element("storage", all[i], i);
    StorageReport report{.folder = one.text("folder"),
                         .profile = one.text("profile"),
                         .mode = one.text("mode"),
                         .page_cache_bytes = one.number("page_cache_bytes", kBytes)};
    for (const auto& [name, member, count] : kStorageFields) report.*member = one.count(name, kMostCounted);
    storage.push_back(std::move(report));
  }
  return storage;
}

RunReport report_of(const Fields& fields) {
  RunReport report;
  report.command = fields.texts("command");
  report.exit_status = static_cast<int>(fields.count("exit_status", 255));
  report.wall_seconds = fields.number("wall_seconds", kSeconds);
  read_source(fields.object("source"), report);
  report.model = fields.text("model");
  read_base(fields.object("base"), report);
  const Fields target = fields.object("target");
  report.target_profile = target.text_or_null("profile");
  report.target = target_of(target);
  report.error_relative_95 = fields.object("error").number_or_null("relative_95", kRelative);
  report.error_from = fields.object("error").text("from");
  report.warnings = fields.texts("warnings");
  report.totals = totals_of(fields.object("totals"));
  report.tiers = tiers_of(fields);
  report.places = places_of(fields);
  if (!fields.is_null("migrations")) report.migrations = migrations_of(fields.object("migrations"));
  if (!fields.is_null("persists")) report.persists = persists_of(fields.object("persists"));
  if (!fields.is_null("paging")) report.paging = paging_of(fields.object("paging"));
  report.storage = storage_of(fields);
  if (!fields.is_null("walks")) report.walks = walks_of(fields.object("walks"));
  if (!fields.is_null("alternation")) report.alternation = alternation_of(fields.object("alternation"));
  if (!fields.is_null("bandwidth")) report.bandwidth = bandwidth_of(fields.object("bandwidth"));
  const Fields::Json& processes = fields.array("processes");
  for (std::size_t i = 0; i < processes.size(); ++i)
    report.processes.push_back(process_of(fields.element("processes", processes[i], i)));
  return report;
}

}  // namespace

Result<RunReport> parse_report(std::string_view text) {
  try {
    const Fields::Json json = Fields::Json::parse(text);
    const std::string schema = Fields(json, "").text_or_null("schema");
    if (schema != kSchema) {
      return failure(
          schema.empty() ? "it is no run report: it names no schema" : "its schema is " + quote(schema),
          std::string("reports of schema ") + kSchema + " are made by nvmemu run --report FILE.json");
    }
    return report_of(Fields(json, ""));
  } catch (const Fields::Json::exception& error) {
    return failure("it is no whole run report: " + printable(error.what()));
  } catch (const FieldError& error) {
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

}  // namespace nvmemu
