// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <nlohmann/json.hpp>

#include "report/delay_error.h"
#include "report/number_tables.h"
#include "report/paging_fields.h"
#include "report/run_report.h"
#include "report/storage_fields.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json optional_text(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json target_json(const RunReport& report) {
  return {
      {"profile", optional_text(report.target_profile)},
      {"read_latency_ns", optional_number(report.target.read_latency_ns)},
      {"write_latency_ns", optional_number(report.target.write_latency_ns)},
      {"read_bandwidth_bps", optional_number(report.target.read_bandwidth_bps)},
      {"write_bandwidth_bps", optional_number(report.target.write_bandwidth_bps)},
  };
}

// All that adds up.
template <typename Report>
void put_numbers(Json& json, const Report& report) {
  for_each_number<Report>([&](const auto& row) { json[row.name] = report.*row.member; });
}

// null: the source does not tell it.
void put_quantities(Json& json, const Quantities& sums, const RunReport& report) {
  for_each_quantity<kOnBoards | kInReports>([&](const QuantityRow& row, std::size_t) {
    Json& value = json[row.name];
    if (!is_told(row.needs, counts_of(report))) return;
    value = row.value(sums);
    if (row.unit == QuantityUnit::kCount) value = static_cast<std::uint64_t>(row.value(sums));
  });
}

Json thread_json(const ThreadReport& thread, const RunReport& report) {
  Json json{{"tid", thread.tid}, {"name", thread.name}};
  put_quantities(json, thread, report);
  json["unpaid_ns"] = thread.unpaid_ns;
  json["ended"] = thread.ended;
  return json;
}

Json totals_json(const RunReport& report) {
  Json json{{"threads", report.totals.threads}};
  put_quantities(json, report.totals, report);
  json["unpaid_ns"] = report.totals.unpaid_ns;
  return json;
}

Json processes_json(const RunReport& report) {
  Json processes = Json::array();
  for (const ProcessReport& process : report.processes) {
    Json threads = Json::array();
    for (const ThreadReport& thread : process.threads) threads.push_back(thread_json(thread, report));
    processes.push_back({{"pid", process.pid},
                         {"ppid", process.ppid},
                         {"command", process.command},
                         {"emulated", process.emulated},
                         {"threads", std::move(threads)}});
  }
  return processes;
}

Json over_time_json(const TrafficSeries::OverTime& over_time) {
  Json read = Json::array();
  Json written = Json::array();
  for (const TrafficSeries::Step& step : over_time.steps) {
    read.push_back(step.read_bytes / over_time.step_seconds);
    written.push_back(step.written_bytes / over_time.step_seconds);
  }
  return {{"step_seconds", over_time.step_seconds},
          {"read_bps", std::move(read)},
          {"write_bps", std::move(written)}};
}

// null: nobody measured it, which is not the same as nothing.
Json bandwidth_json(const BandwidthReport& bandwidth) {
  if (!bandwidth.is_measured) return nullptr;
  return {
      {"by", bandwidth.by.empty() ? Json(nullptr) : Json(bandwidth.by)},
      {"why", bandwidth.why},
      {"read_bytes", bandwidth.read_bytes},
      {"written_bytes", bandwidth.written_bytes},
      {"read_reached_bps", optional_number(bandwidth.read_reached_bps)},
      {"write_reached_bps", optional_number(bandwidth.write_reached_bps)},
      {"held_ns", bandwidth.held_ns},
      {"error",
       {{"relative_95", optional_number(bandwidth.error_relative_95)}, {"from", bandwidth.error_from}}},
      {"over_time", over_time_json(bandwidth.over_time)},
  };
}

Json source_json(const RunReport& report) {
  return {
      {"name", report.source_name},
      {"why", report.source_why},
      {"design", optional_text(report.source_design)},
      {"quality", optional_text(report.source_quality)},
      {"counted_share", optional_number(report.counted_share)},
      {"ticker", report.ticker},
  };
}

Json latency_json(double ns) { return ns > 0 ? Json(ns) : Json(); }

Json alternation_json(const AlternationReport& alternation) {
  if (alternation.window_seconds <= 0) return {};
  Json windows = Json::array();
  for (const WindowReport& window : alternation.windows) {
    windows.push_back({{"delays", window.delays},
                       {"begin_seconds", window.begin_seconds},
                       {"seconds", window.seconds},
                       {"progress", window.progress},
                       {"measuring", window.measuring},
                       {"cpu_seconds", window.cpu_seconds}});
  }
  const auto& slowdown = alternation.slowdown;
  return {{"window_seconds", alternation.window_seconds},
          {"windows", std::move(windows)},
          {"slowdown", slowdown ? Json{{"median", slowdown->median},
                                       {"lower_quartile", slowdown->lower},
                                       {"upper_quartile", slowdown->upper},
                                       {"windows", slowdown->windows}}
                                : Json()}};
}

Json migrations_json(const MigrationReport& migrations) {
  if (migrations.policy.empty()) return {};
  Json json{{"policy", migrations.policy}};
  put_numbers(json, migrations);
  return json;
}

Json persists_json(const PersistReport& persists) {
  if (!persists.is_emulated) return {};
  Json json{{"native_ns", persists.native_ns}};
  put_numbers(json, persists);
  return json;
}

// Which loads were whose is known of those that walks have passed; of others it is taken to be as of these.
Json told_json(const RunTotals& totals) {
  if (totals.stall_ns <= 0) return {};
  const double others = unwalked_share(totals);
  return {{"walks", 1 - others}, {"as_others", others}};
}

Json tiers_json(const RunReport& report) {
  Json all = Json::array();
  const double stall_ns = stall_ns_of(report.tiers);
  for (const TierReport& tier : report.tiers) {
    Json json{{"name", tier.name},
              {"profile", optional_text(tier.profile)},
              {"read_latency_ns", tier.read_latency_ns},
              {"rule", tier.rule},
              {"has_the_rest", tier.has_the_rest}};
    put_numbers(json, tier);
    json["share"] = stall_ns > 0 ? Json(tier.stall_ns / stall_ns) : Json(nullptr);
    json["share_error_95"] = optional_number(tier.share_error_95);
    json["told_by"] = told_json(report.totals);
    all.push_back(std::move(json));
  }
  return all;
}

Json places_json(const std::vector<PlaceReport>& places) {
  Json all = Json::array();
  for (const PlaceReport& place : places) {
    all.push_back({{"pid", place.pid},
                   {"name", optional_text(place.name)},
                   {"site", optional_text(place.site)},
                   {"begin", place.begin},
                   {"bytes", place.bytes},
                   {"stall_ns", place.stall_ns}});
  }
  return all;
}

Json faults_json(const FaultReport& faults) {
  Json histogram = Json::array();
  for (const TimeBucket& bucket : faults.histogram)
    histogram.push_back(
        {{"begin_ns", bucket.begin_ns}, {"end_ns", bucket.end_ns}, {"faults", bucket.faults}});
  return {{"faults", faults.faults},
          {"mean_ns", latency_json(faults.mean_ns)},
          {"median_ns", latency_json(faults.median_ns)},
          {"p99_ns", latency_json(faults.p99_ns)},
          {"p999_ns", latency_json(faults.p999_ns)},
          {"histogram", std::move(histogram)}};
}

// null: it is not known.
Json wear_json(const PagingReport& paging, double wall_seconds) {
  const std::optional<Wear> wear = wear_of(paging, wall_seconds);
  if (!wear) return {};
  return {{"capacity_bytes", paging.endurance.capacity_bytes},
          {"erase_cycles", paging.endurance.erase_cycles},
          {"erase_block_bytes", paging.endurance.erase_block_bytes},
          {"written_bytes_per_day", wear->written_bytes_per_day},
          {"write_amplification", wear->write_amplification},
          {"years", wear->years},
          {"assumes", kWearAssumes}};
}

// null: nothing is paged.
Json paging_json(const PagingReport& paging, double wall_seconds) {
  if (paging.dram_bytes <= 0) return {};
  Json json = {{"page_to", paging.page_to}};
  for (const auto& [name, member] : kPagingTexts) json[name] = optional_text(paging.*member);
  for (const auto& [name, member] : kPagingSizes) json[name] = paging.*member;
  for (const auto& [name, member, is_newer] : kPagingFaults) json[name] = faults_json(paging.*member);
  for (const auto& [name, member] : kPagingCounts) json[name] = paging.*member;
  json["device_ns"] = paging.device_ns;
  json["written_bytes"] = written_bytes(paging);
  json["wear"] = wear_json(paging, wall_seconds);
  return json;
}

Json storage_json(const std::vector<StorageReport>& storage) {
  Json all = Json::array();
  for (const StorageReport& one : storage) {
    Json json = {{"folder", one.folder},
                 {"profile", one.profile},
                 {"mode", one.mode},
                 {"page_cache_bytes", one.page_cache_bytes}};
    for (const auto& [name, member, count] : kStorageFields) json[name] = one.*member;
    all.push_back(std::move(json));
  }
  return all;
}

Json report_json(const RunReport& report) {
  return {
      {"schema", "nvmemu-run-1"},
      {"command", report.command},
      {"exit_status", report.exit_status},
      {"wall_seconds", report.wall_seconds},
      {"source", source_json(report)},
      {"model", report.model},
      {"base",
       {{"read_latency_ns", latency_json(report.base_read_latency_ns)},
        {"at_start_ns", latency_json(report.base_read_latency_ns)},  // the schema takes no field away
        {"read_latency_spread", report.base_spread}}},
      {"target", target_json(report)},
      {"error", {{"relative_95", optional_number(report.error_relative_95)}, {"from", report.error_from}}},
      {"warnings", report.warnings},
      {"totals", totals_json(report)},
      {"tiers", tiers_json(report)},
      {"places", places_json(report.places)},
      {"migrations", migrations_json(report.migrations)},
      {"persists", persists_json(report.persists)},
      {"paging", paging_json(report.paging, report.wall_seconds)},
      {"storage", storage_json(report.storage)},
      {"walks",
       {{"walks", report.walks.walks},
        {"instructions", report.walks.instructions},
        {"passed", report.walks.passed},
        {"ended_by", report.walks.ended_by}}},
      {"alternation", alternation_json(report.alternation)},
      {"bandwidth", bandwidth_json(report.bandwidth)},
      {"processes", processes_json(report)},
  };
}

}  // namespace

std::string to_json(const RunReport& report) {
  // Names and command lines are bytes of any kind; JSON is UTF-8. As ASCII, for what is printed may have
  // control characters of a terminal that JSON has no escapes for otherwise.
  return report_json(report).dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<void> write_report(const RunReport& report, const OutputFile& file) {
  try {
    return file.write(to_json(report));
  } catch (const std::exception& error) {  // out of memory; it must not reach the program that this runs in
    return failure(std::string("cannot write the report: ") + error.what());
  }
}

Result<void> write_report(const RunReport& report, const std::string& path) {
  const Result<OutputFile> file = OutputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return write_report(report, *file);
}

}  // namespace nvmemu
