// SPDX-License-Identifier: Apache-2.0
#include "source_decision.h"

#include <algorithm>

#include "counters/pmu/verdict.h"
#include "host/cpu.h"
#include "kept_signals.h"

namespace nvmemu::preload {
namespace {

// What is to be counted, or why nothing is.
Result<SourceDecision> decide_counters(const Config& config, bool traffic) {
  const Cpu cpu = read_cpu();
  const Microarchitecture* design = find_events(cpu.signature);
  if (design == nullptr)
    return failure("this processor is not in the catalogue, and its architecture promises no events");
  const auto verdict = load_verdict(config.verdict.empty() ? verdict_path() : config.verdict, design->name);
  if (!verdict) {
    return failure("the hardware counters have not been tested: " + verdict.error().message,
                   "run 'nvmemu info' once, which tests them");
  }
  if (!verdict->trusted)
    return failure("the hardware counters are not to be trusted: " + verdict->why, verdict->mend);
  if (const std::string lacking = traffic ? why_no_traffic(*design, *verdict) : ""; !lacking.empty())
    return failure(lacking);
  return SourceDecision{.name = "pmu",
                        .text = "this processor's counters",
                        .why = verdict->why,
                        .design = design,
                        .numa_nodes = cpu.numa_nodes,
                        .counts = counts_of(*design, cpu.numa_nodes, verdict->episodes)};
}

}  // namespace

SourceDecision decide_source(const Config& config) {
  if (config.source == SourceChoice::kSampler) return {};
  if (!config.tiers.empty()) return {.why = "counters do not tell which tier was waited for"};
  const bool counts_bytes = config.stat || config.target_read_bps > 0 || config.target_write_bps > 0;
  Result<SourceDecision> counters = decide_counters(config, counts_bytes);
  if (counters) return *std::move(counters);
  SourceDecision sampler{.why = counters.error().message};
  if (config.source == SourceChoice::kPmu) {
    const std::string& hint = counters.error().hint;
    sampler.warning =
        sampler.why + "; the sampler measures instead" + (hint.empty() ? "" : " (" + hint + ")");
  }
  return sampler;
}

// Epochs end at ticks: often enough for that, and no oftener, since a tick costs as much as a sample. Where
// the last-level cache's latency is not known it is taken for a quarter of memory's, as the counters' test
// does.
PmuSourceOptions pmu_options_for(const SourceDecision& decision, const ReadLatency& latency,
                                 const Calibration& calibration, double epoch_ns, bool counts_traffic) {
  constexpr double kShortestTickNs = 1e6;
  constexpr double kLongestTickNs = 10e6;
  LevelLatencies levels{.memory_ns = latency.base_ns};
  levels.last_level_ns = latency.cache_ns > 0 ? latency.cache_ns : latency.base_ns / 4;
  levels.remote_memory_ns = latency.remote_ns;
  return {.design = decision.design,
          .latencies = levels,
          .numa_nodes = decision.numa_nodes,
          .counts_traffic = counts_traffic,
          .tick_ns = std::clamp(epoch_ns / 4, kShortestTickNs, kLongestTickNs),
          .tick_cost_ns = calibration.sample_cost_ns + calibration.timer_cost_ns,
          .signal = kTickSignal};
}

}  // namespace nvmemu::preload
