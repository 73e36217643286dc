// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/csv.h"
#include "report/comparison_text.h"
#include "report/parameters.h"

namespace nvmemu::pmbench {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json parameters_json(const RunResult& result) {
  Json json = Json::object();
  for (const Parameter& parameter : parameters()) json[parameter.name] = parameter.of(result);
  return json;
}

Json run_json(const NamedRun& run) {
  Json found = Json::object();
  for (const Figure& figure : figures()) found[figure.key] = optional_number(figure.of(run.view));
  return {{"file", run.file},
          {"group", run.group},
          {"interrupted", run.view.result.interrupted},
          {"from_bands", run.view.result.from_bands},
          {"major_faults_are", explain(run.view.major.basis)},
          {"parameters", parameters_json(run.view.result)},
          {"figures", std::move(found)}};
}

Json estimate_json(const Estimate& estimate) {
  if (estimate.runs == 0) return nullptr;
  return {{"runs", estimate.runs},
          {"mean", estimate.mean},
          {"half_width_95", optional_number(estimate.half_width_95)},
          {"least", estimate.least},
          {"most", estimate.most}};
}

Json group_json(const Group& group) {
  Json found = Json::object();
  for (std::size_t i = 0; i < figures().size(); ++i)
    found[figures()[i].key] = estimate_json(group.estimates[i]);
  return {{"label", group.label},
          {"runs", group.runs},
          {"from_bands", group.from_bands},
          {"figures", std::move(found)}};
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

// What the lines of a run and of an average begin with.
std::string csv_start(const char* kind, const std::string& file, const std::string& label, std::size_t runs,
                      const RunResult& example) {
  std::string line = fmt::format("{},{},{},{}", kind, csv_field(file), csv_field(label), runs);
  for (const Parameter& parameter : parameters()) line.append(",").append(csv_field(parameter.of(example)));
  return line;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json runs = Json::array();
  for (const NamedRun& run : comparison.runs) runs.push_back(run_json(run));
  Json groups = Json::array();
  for (const Group& group : comparison.groups) groups.push_back(group_json(group));
  const Json json{
      {"schema", "pmbench-report-1"},
      {"medium", {{"latency_ns", optional_number(comparison.medium_ns)}, {"from", comparison.medium_from}}},
      {"runs", std::move(runs)},
      {"groups", std::move(groups)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text = "kind,file,group,runs";
  for (const Parameter& parameter : parameters()) text += fmt::format(",{}", parameter.name);
  for (const Figure& figure : figures()) text += fmt::format(",{0},{0}_half_width_95", figure.key);
  text += "\n";
  for (const NamedRun& run : comparison.runs) {
    text += csv_start("run", run.file, comparison.groups[run.group].label, 1, run.view.result);
    for (const Figure& figure : figures()) text += fmt::format(",{},", number(figure.of(run.view)));
    text += "\n";
  }
  for (const Group& group : comparison.groups) {
    text += csv_start("average", "", group.label, group.runs.size(),
                      comparison.runs[group.runs.front()].view.result);
    for (const Estimate& estimate : group.estimates) {
      text += fmt::format(",{},{}", estimate.runs > 0 ? number(estimate.mean) : "",
                          number(estimate.half_width_95));
    }
    text += "\n";
  }
  return text;
}

std::string histograms_csv(const Comparison& comparison) {
  std::string text = "begin_ns,end_ns";
  for (const Group& group : comparison.groups) {
    text += fmt::format(",{},{}", csv_field(group.label + " reads"), csv_field(group.label + " writes"));
  }
  text += "\n";
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    std::string counts;
    bool any = false;
    for (const Group& group : comparison.groups) {
      const std::uint64_t reads = group.reads.counts[i];
      const std::uint64_t writes = group.writes.counts[i];
      any = any || reads != 0 || writes != 0;
      counts += fmt::format(",{},{}", group.average(reads), group.average(writes));
    }
    const std::string end = i + 1 < Buckets::kCount ? std::to_string(Buckets::begin_ns(i + 1)) : "";
    if (any) text += fmt::format("{},{}{}\n", Buckets::begin_ns(i), end, counts);
  }
  return text;
}

}  // namespace nvmemu::pmbench
