// SPDX-License-Identifier: Apache-2.0
#include "process_source.h"

#include <algorithm>

#include "host/cpu.h"
#include "kept_signals.h"

namespace nvmemu::preload {
namespace {

PmuVerdict kept_verdict(const Config& config, const Cpu& cpu) {
  const Microarchitecture* design = find_events(cpu.signature);
  PmuVerdict untested;
  if (design == nullptr) {
    untested.why = "this processor is not in the catalogue, and its architecture promises no events";
    return untested;
  }
  auto kept = load_verdict(config.verdict.empty() ? verdict_path() : config.verdict, design->name);
  if (kept) return *std::move(kept);
  untested.why = "they have not been tested: " + kept.error().message;
  untested.mend = "run 'nvmemu info' once, which tests them";
  return untested;
}

}  // namespace

SourcePlan process_source(const Config& config) {
  SourceNeeds needs = source_needs_of(config);
  needs.has_sampler = true;  // where nothing is decoded, its ticks still end epochs
  return plan_source_here(needs, [&config](const Cpu& cpu) { return kept_verdict(config, cpu); });
}

// Epochs end at ticks: often enough for that, and no oftener, since a tick costs as much as a sample. Where
// the last-level cache's latency is not known it is taken for a quarter of memory's, as the counters' test
// does.
PmuSourceOptions pmu_options_for(const SourcePlan& source, const ReadLatency& latency,
                                 const Calibration& calibration, double epoch_ns, bool counts_traffic) {
  constexpr double kShortestTickNs = 1e6;
  constexpr double kLongestTickNs = 10e6;
  LevelLatencies levels{.memory_ns = latency.base_ns};
  levels.last_level_ns = latency.cache_ns > 0 ? latency.cache_ns : latency.base_ns / 4;
  levels.remote_memory_ns = latency.remote_ns;
  return {.design = source.design,
          .latencies = levels,
          .numa_nodes = source.numa_nodes,
          .counts_traffic = counts_traffic,
          .tick_ns = std::clamp(epoch_ns / 4, kShortestTickNs, kLongestTickNs),
          .tick_cost_ns = calibration.sample_cost_ns + calibration.timer_cost_ns,
          .signal = kTickSignal};
}

}  // namespace nvmemu::preload
