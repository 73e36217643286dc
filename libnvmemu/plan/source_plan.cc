// SPDX-License-Identifier: Apache-2.0
#include "plan/source_plan.h"

#include "counters/pmu/pmu_source.h"

namespace nvmemu {
namespace {

SourcePlan sampler(const SourceNeeds& needs, std::string why) {
  if (needs.has_sampler)
    return {.name = "sampler", .text = "the sampler", .why = std::move(why), .counts = kSamplerCounts};
  const std::string also = why.empty() ? "" : "; and ";
  return {
      .name = "none", .text = "nothing", .why = why + also + "no sampler decodes this processor's code yet"};
}

std::string why_not(const PmuVerdict& verdict) {
  return verdict.tested ? "the hardware counters are not to be trusted: " + verdict.why
                        : "the hardware counters cannot be used: " + verdict.why;
}

}  // namespace

SourceNeeds source_needs_of(const Config& config) {
  return {.wanted = config.source,
          .traffic = config.stat || config.memory.bandwidth.limits() || config.tiers.limits_bandwidth(),
          .tiers = !config.tiers.empty()};
}

SourcePlan plan_source(const SourceNeeds& needs, const Cpu& cpu, const PmuVerdict& verdict) {
  if (needs.wanted == SourceChoice::kSampler) return sampler(needs, needs.has_sampler ? "asked for" : "");
  if (needs.tiers) return sampler(needs, "counters do not tell which tier was waited for");
  const Microarchitecture* design = find_events(cpu.signature);
  const bool trusted = verdict.trusted && design != nullptr;
  if (!trusted) {
    SourcePlan substitute = sampler(needs, why_not(verdict));
    substitute.mend = verdict.mend;
    return substitute;
  }
  if (const std::string lacking = needs.traffic ? why_no_traffic(*design, verdict) : ""; !lacking.empty())
    return sampler(needs, lacking);
  return {.name = "pmu",
          .text = "this processor's counters",
          .why = verdict.why,
          .counts = counts_of(*design, cpu.numa_nodes, verdict.episodes),
          .design = design,
          .numa_nodes = cpu.numa_nodes};
}

SourcePlan plan_source_here(const SourceNeeds& needs,
                            const std::function<PmuVerdict(const Cpu&)>& find_verdict) {
  if (!needs.allow_counters()) return plan_source(needs, {}, {});
  const Cpu cpu = read_cpu();
  return plan_source(needs, cpu, find_verdict(cpu));
}

std::string explain_substitute(const SourcePlan& source) {
  return source.why +
         (source.name == "none" ? "; the program runs natively" : "; the sampler measures instead") +
         (source.mend.empty() ? "" : " (to mend it: " + source.mend + ")");
}

}  // namespace nvmemu
