// SPDX-License-Identifier: Apache-2.0
#include "storage_bench/json.h"

#include <nlohmann/json.hpp>

namespace nvmemu::storage_bench {
namespace {

using Json = nlohmann::ordered_json;
using pmbench::Buckets;
using pmbench::LatencyCounts;

// As pmbench writes them.
Json histogram(const LatencyCounts& latencies) {
  Json buckets = Json::array();
  for (std::size_t i = 0; i < Buckets::kCount; ++i) {
    if (latencies.counts[i] > 0) buckets.push_back({Buckets::begin_ns(i), latencies.counts[i]});
  }
  return {{"count", latencies.count},
          {"sum_ns", latencies.sum_ns},
          {"min_ns", latencies.min_ns},
          {"max_ns", latencies.max_ns},
          {"buckets", buckets}};
}

Json operations_of(const FlowResult& result) {
  Json operations = Json::array();
  for (std::size_t i = 0; i < result.operations.size(); ++i) {
    const Operation& operation = result.flow->operations[i];
    if (operation.action == Action::kLimit) continue;
    operations.push_back({{"name", operation.name},
                          {"action", name_of(operation.action)},
                          {"bytes", result.operations[i].bytes},
                          {"latencies", histogram(result.operations[i].latencies)}});
  }
  return operations;
}

Json parameters_of(const Parameters& parameters) {
  return {{"files", parameters.files},
          {"mean_file_bytes", parameters.mean_file_bytes},
          {"files_in_folder", parameters.files_in_folder},
          {"io_bytes", parameters.io_bytes},
          {"append_bytes", parameters.append_bytes},
          {"threads", parameters.threads},
          {"seconds", parameters.seconds},
          {"rounds", parameters.rounds > 0 ? Json(parameters.rounds) : Json(nullptr)},
          {"seed", parameters.seed}};
}

Json flow_of(const FlowResult& result) {
  const auto per_second = [&](std::uint64_t amount) {
    return result.seconds > 0 ? Json(static_cast<double>(amount) / result.seconds) : Json(nullptr);
  };
  return {{"flow", result.flow->name},
          {"parameters", parameters_of(result.parameters)},
          {"files_at_start", result.files_at_start},
          {"bytes_at_start", result.bytes_at_start},
          {"preparing_seconds", result.preparing_seconds},
          {"seconds", result.seconds},
          {"interrupted", result.interrupted},
          {"operations_per_second", per_second(result.count())},
          {"read_bytes_per_second", per_second(result.read_bytes())},
          {"written_bytes_per_second", per_second(result.written_bytes())},
          {"operations_of_threads", result.operations_of_threads},
          {"operations", operations_of(result)}};
}

}  // namespace

std::string to_json(const std::vector<FlowResult>& results, const Provenance& provenance) {
  const FileSystem& system = provenance.file_system;
  Json json{{"schema", "nvmemu-bench-storage-1"},
            {"version", provenance.version},
            {"cpu", provenance.cpu},
            {"kernel", provenance.kernel},
            {"started", provenance.started},
            {"directory", provenance.directory},
            {"file_system",
             {{"type", system.type},
              {"free_bytes", system.free_bytes},
              {"free_inodes", system.free_inodes ? Json(*system.free_inodes) : Json(nullptr)}}},
            {"scale", provenance.scale},
            {"flows", Json::array()}};
  for (const FlowResult& result : results) json["flows"].push_back(flow_of(result));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nvmemu::storage_bench
