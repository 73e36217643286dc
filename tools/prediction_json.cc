// SPDX-License-Identifier: Apache-2.0
// What `nvmemu predict --json` prints: docs/record.md.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "predicted.h"

namespace nvmemu {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostMappings = 20;

Json seconds(double ns) { return ns / 1e9; }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json times_json(const Prediction& found, const std::optional<double>& error_ns) {
  return {
      {"seconds", seconds(found.wall_ns())},
      {"seconds_error_95", error_ns ? seconds(*error_ns) : Json(nullptr)},
      {"seconds_least", seconds(found.native_ns + found.delay.least_ns)},
      {"seconds_most", seconds(found.native_ns + found.delay.most_ns)},
      {"delay_seconds", seconds(found.delay.expected_ns)},
      {"slowdown", found.slowdown()},
  };
}

Json target_json(const Target& target) {
  Json json{{"target", text_or_null(target.name)}, {"read_latency_ns", target.latency_ns}};
  json.update(times_json(target.prediction, target.error_ns));
  return json;
}

const char* name_of(PlacedBy by) {
  switch (by) {
    case PlacedBy::kHeat:
      return "hottest";
    case PlacedBy::kFirstTouch:
      return "first-touch";
    case PlacedBy::kInterleave:
      return "interleave";
    case PlacedBy::kFiles:
      return "files";
    case PlacedBy::kBlocks:
      return "blocks";
    case PlacedBy::kNode:
      return "node";
    case PlacedBy::kNothing:
      break;
  }
  return "rest";
}

Json placed_json(const PlacedTarget& target) {
  const bool is_sized = target.by == PlacedBy::kHeat || target.by == PlacedBy::kFirstTouch;
  Json json{{"tier", target.tier},
            {"target", text_or_null(target.memory)},
            {"read_latency_ns", target.latency_ns},
            {"placed", name_of(target.by)},
            {"dram_bytes", is_sized ? Json(target.dram_bytes) : Json(nullptr)},
            {"interleave", text_or_null(target.interleave)},
            {"slow_share", target.slow.of_all},
            {"slow_share_error_95", target.slow.error_95}};
  json.update(times_json(target.prediction, target.error_ns));
  return json;
}

Json memory_json(const Predicted& predicted) {
  const PlacedMemory& memory = predicted.memory;
  Json mappings = Json::array();
  for (const WaitedMapping& mapping : memory.mappings()) {
    if (mappings.size() == kMostMappings) break;
    const auto& processes = predicted.record.processes;
    const auto process = std::ranges::find(processes, mapping.process, &RecordedProcess::number);
    mappings.push_back({{"pid", process == processes.end() ? Json(nullptr) : Json(process->pid)},
                        {"name", text_or_null(mapping.name)},
                        {"begin", fmt::format("{:#x}", mapping.begin)},
                        {"bytes", mapping.bytes},
                        {"stall_ns", mapping.stall_ns}});
  }
  return {{"regions", memory.regions()},
          {"bytes", memory.bytes()},
          {"misses", memory.misses()},
          {"unknown_share", memory.unknown_share()},
          {"mappings", std::move(mappings)}};
}

// null: the source does not tell it, or the record is older than it.
Json totals_json(const Record& record) {
  const RecordTotals totals = totals_of(record);
  Json json{
      {"processes", record.processes.size()}, {"threads", totals.threads}, {"epochs", record.epochs.size()}};
  for_each_quantity<kInRecords | kInReports>([&](const QuantityRow& row, std::size_t) {
    const bool is_kept = std::ranges::find(record.unkept, &row) == record.unkept.end();
    const bool is_known = is_kept && is_told(row.needs, record.info.counts);
    json[row.name] = is_known ? Json(row.value(totals)) : Json(nullptr);
  });
  return json;
}

}  // namespace

void print_prediction_json(const Predicted& predicted) {
  const Record& record = predicted.record;
  Json json{
      {"schema", "nvmemu-prediction-1"},
      {"command", record.info.command},
      {"exit_status", record.is_cut_off ? Json(nullptr) : Json(record.exit_status)},
      {"cpu", record.info.cpu_model},
      {"source", record.info.source},
      {"model", predicted.model->name},
      {"base", {{"read_latency_ns", record.info.base_ns}, {"read_latency_spread", record.info.base_spread}}},
      {"recorded_seconds", seconds(record.wall_ns)},
      {"native_seconds", seconds(predicted.native_ns)},
      {"error",
       {{"relative_95", predicted.error.relative_95 ? Json(*predicted.error.relative_95) : Json(nullptr)},
        {"from", predicted.error.from}}},
      {"totals", totals_json(record)},
      {"warnings", predicted.warnings},
      {"memory", record.keeps_regions ? memory_json(predicted) : Json(nullptr)},
      {"targets", Json::array()},
      {"placed", Json::array()},
  };
  for (const Target& target : predicted.targets) json["targets"].push_back(target_json(target));
  for (const PlacedTarget& target : predicted.placed) json["placed"].push_back(placed_json(target));
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace nvmemu
