// SPDX-License-Identifier: Apache-2.0
#include "model/model_table.h"

#include <algorithm>
#include <array>

#include "base/quote.h"

namespace nvmemu {
namespace {

// Why in this order: docs/models.md. `remote-share` emulates something else than the others, and so is
// nothing for `auto` to take.
constexpr std::array kModels{
    Model{"stall", stall_delay_ns, kCountsStall, 0},
    Model{"weighted", weighted_delay_ns, kCountsCacheStall | kCountsHits | kCountsMisses, kNeedsCacheLatency},
    Model{"episodes", episodes_delay_ns, kCountsEpisodes, 0},
    Model{"misses", misses_delay_ns, kCountsMisses, 0},
    Model{"remote-share", remote_share_delay_ns, kCountsStall | kCountsNodes, kNeedsRemoteLatency},
};
constexpr std::size_t kAutomatic = 4;

struct Named {
  std::uint32_t bit;
  const char* name;
};

constexpr Named kCountNames[] = {
    {kCountsStall, "stall time"},
    {kCountsHits, "hits of the last-level cache"},
    {kCountsMisses, "misses"},
    {kCountsNodes, "misses by node"},
    {kCountsCacheStall, "stall time behind the inner caches"},
    {kCountsEpisodes, "episodes"},
};

constexpr Named kLatencyNames[] = {
    {kNeedsCacheLatency, "the last-level cache"},
    {kNeedsRemoteLatency, "remote memory"},
};

std::string list(std::span<const Named> names, std::uint32_t bits) {
  std::string text;
  for (const Named& named : names) {
    if ((bits & named.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(named.name);
  }
  return text;
}

CountSet missing_counts(const Model& model, CountSet counts) { return model.counts & ~counts; }

LatencySet missing_latencies(const Model& model, const ReadLatency& latency) {
  const LatencySet known =
      (latency.cache_ns > 0 ? kNeedsCacheLatency : 0) | (latency.remote_ns > 0 ? kNeedsRemoteLatency : 0);
  return model.latencies & ~known;
}

Result<const Model*> choose_best(std::string_view source, CountSet counts, const ReadLatency& latency) {
  for (const Model& model : models().first(kAutomatic)) {
    if (missing_counts(model, counts) == 0 && missing_latencies(model, latency) == 0) return &model;
  }
  const std::string counted = list(kCountNames, counts);
  return failure("no model makes a delay of what " + std::string(source) + " counts (" +
                 (counted.empty() ? "nothing" : counted) + ")");
}

}  // namespace

std::span<const Model> models() noexcept { return kModels; }

std::string model_names() {
  std::string names = "auto";
  for (const Model& model : kModels) names += ", " + std::string(model.name);
  return names;
}

Result<const Model*> find_model(std::string_view name) {
  if (name == "auto") return nullptr;
  const auto found =
      std::find_if(kModels.begin(), kModels.end(), [name](const Model& model) { return model.name == name; });
  if (found == kModels.end()) return failure(quote(name) + " is not one of " + model_names());
  return &*found;
}

Result<const Model*> choose_model(std::string_view name, std::string_view source, CountSet counts,
                                  const ReadLatency& latency) {
  const Result<const Model*> named = find_model(name);
  if (!named) return named;
  if (*named == nullptr) return choose_best(source, counts, latency);
  const Model& model = **named;
  if (const CountSet missing = missing_counts(model, counts); missing != 0) {
    return failure("model " + std::string(name) + " needs " + list(kCountNames, missing) + ", and " +
                       std::string(source) + " counts " + list(kCountNames, counts) + " only",
                   "leave the model to nvmemu: --model auto");
  }
  if (const LatencySet missing = missing_latencies(model, latency); missing != 0) {
    return failure("model " + std::string(name) + " needs the latency of " + list(kLatencyNames, missing) +
                       ", which is not known",
                   missing == kNeedsRemoteLatency ? "give --remote-latency" : "run 'nvmemu calibrate'");
  }
  return &model;
}

}  // namespace nvmemu
