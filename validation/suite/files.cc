// SPDX-License-Identifier: Apache-2.0
#include "suite/files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "suite/summary.h"

namespace nvmemu::suite {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

const char* name_of(Judged judged) {
  switch (judged) {
    case Judged::kError:
      return "error";
    case Judged::kBounds:
      return "bounds";
    case Judged::kLimit:
      return "limit";
  }
  return "";
}

Json to_json(const Sample& sample) {
  return {{"native_seconds", sample.native_seconds},
          {"native_spread", sample.native_spread},
          {"truth_seconds", sample.truth_seconds},
          {"emulated_seconds", sample.emulated_seconds},
          {"base_read_latency_ns", sample.base_ns},
          {"steal_share", sample.steal_share},
          {"stall_ns", sample.stall_ns},
          {"injected_ns", sample.injected_ns},
          {"truth_share_on_node", or_null(sample.truth_share_on_node)},
          {"emulated_share_on_node", or_null(sample.emulated_share_on_node)},
          {"disturbed", sample.disturbed}};
}

Json to_json(const Row& row) {
  const bool measured = row.is_measured();
  const auto figure = [&](double value) { return measured ? Json(value) : Json(nullptr); };
  Json json{{"truth", name_of(row.experiment.truth)},
            {"workload", row.experiment.name},
            {"arguments", row.experiment.arguments},
            {"judged_by", name_of(row.experiment.judged)},
            {"target_read_latency_ns", row.target_ns > 0 ? Json(row.target_ns) : Json(nullptr)},
            {"loads", or_null(row.loads)},
            {"work_ns", or_null(row.work_ns)},
            {"native_seconds", figure(row.native_seconds())},
            {"truth_seconds", figure(row.truth_seconds())},
            {"emulated_seconds", figure(row.emulated_seconds())},
            {"error_percent", figure(row.error())},
            {"half_width_95", or_null(half_width_95(row))},
            {"native_spread_percent", figure(row.native_spread())},
            {"disturbed_samples", row.disturbed()},
            {"repeats_left_out", row.repeats_left_out}};
  if (row.experiment.judged == Judged::kBounds) {
    json["least_seconds"] = figure(row.least_seconds());
    json["within_bounds"] = measured ? Json(row.within_bounds(kBoundsTolerance)) : Json(nullptr);
  }
  json["failure"] = row.failure ? Json(row.failure->message) : Json(nullptr);
  json["skipped"] = row.skipped.empty() ? Json(nullptr) : Json(row.skipped);
  json["samples"] = Json::array();
  for (const Sample& sample : row.samples) json["samples"].push_back(to_json(sample));
  return json;
}

Json numa_json(const Machine& machine) {
  if (!machine.nodes) return nullptr;
  Json given = nullptr;
  if (machine.node_latencies) given = {machine.node_latencies->local_ns, machine.node_latencies->remote_ns};
  return {{"processors", machine.nodes->processors},
          {"memory", machine.nodes->memory},
          {"given_latencies_ns", given}};
}

// No figures where a row failed: there is no mean of the others.
Json to_json(const Summary& summary) {
  const bool known = summary.failed == 0 && summary.rows > 0;
  const auto figure = [&](double value) { return known ? Json(value) : Json(nullptr); };
  return {{"truth", summary.name},
          {"rows", summary.rows},
          {"failed", summary.failed},
          {"mean", figure(summary.mean)},
          {"half_width_95", known ? or_null(summary.half_width_95) : Json(nullptr)},
          {"median", figure(summary.median)},
          {"least", figure(summary.least)},
          {"most", figure(summary.most)},
          {"worst", known ? Json(summary.worst) : Json(nullptr)},
          {"bounded", summary.bounded},
          {"out_of_bounds", summary.out_of_bounds}};
}

// As RFC 4180 has it.
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string to_json(const std::vector<Row>& rows, const Provenance& provenance) {
  const Machine& machine = provenance.machine;
  Json json{{"schema", "nvmemu-validation-1"},
            {"nvmemu", provenance.version},
            {"machine",
             {{"cpu", provenance.cpu},
              {"kernel", provenance.kernel},
              {"processors", machine.cpus},
              {"base_read_latency_ns", machine.base_ns},
              {"cache_latency_ns", machine.cache_ns},
              {"numa", numa_json(machine)}}},
            {"rounds", provenance.rounds},
            {"repeats", provenance.repeats}};
  json["rows"] = Json::array();
  for (const Row& row : rows) json["rows"].push_back(to_json(row));
  json["absolute_errors_percent"] = Json::array();
  for (const Summary& summary : summarize(rows)) json["absolute_errors_percent"].push_back(to_json(summary));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const std::vector<Row>& rows) {
  std::string text =
      "truth,workload,judged_by,target_ns,loads,sample,native_s,native_spread,truth_s,emulated_s,error_"
      "percent,"
      "base_ns,steal_share,disturbed,remark\n";
  for (const Row& row : rows) {
    const std::string head = fmt::format("{},{},{},{:.1f},{}", name_of(row.experiment.truth),
                                         csv_cell(row.experiment.name), name_of(row.experiment.judged),
                                         row.target_ns, row.loads ? fmt::format("{:.0f}", *row.loads) : "");
    const std::string remark = csv_cell(row.failure ? "failed: " + row.failure->message : row.skipped);
    if (row.samples.empty()) text += fmt::format("{},,,,,,,,,,{}\n", head, remark);
    for (std::size_t i = 0; i < row.samples.size(); ++i) {
      const Sample& sample = row.samples[i];
      text += fmt::format("{},{},{:.6f},{:.4f},{:.6f},{:.6f},{:.2f},{:.1f},{:.4f},{},{}\n", head, i + 1,
                          sample.native_seconds, sample.native_spread, sample.truth_seconds,
                          sample.emulated_seconds, sample.error(), sample.base_ns, sample.steal_share,
                          sample.disturbed ? 1 : 0, remark);
    }
  }
  return text;
}

Result<void> check_writable(const std::string& path) {
  const Result<OutputFile> file = OutputFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return file->try_to_make();
}

Result<void> write_file(const std::string& path, const std::string& content) {
  return write_whole_file(path, content);
}

}  // namespace nvmemu::suite
