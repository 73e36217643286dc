// SPDX-License-Identifier: Apache-2.0
#include "source_choice.h"

#include <fmt/format.h>

#include "counters/pmu/pmu_source.h"
#include "counters/pmu/self_test.h"
#include "host/calibration.h"
#include "walk/decode/decode.h"

namespace nvmemu {
namespace {

ChosenSource sampler(std::string why) {
  return {.name = "sampler", .text = "the sampler", .why = std::move(why), .counts = kSamplerCounts};
}

ChosenSource nothing(std::string why) {
  why += fmt::format("{}no sampler decodes this processor's code yet", why.empty() ? "" : "; and ");
  return {.name = "none", .text = "nothing", .why = std::move(why)};
}

std::string why_not(const PmuVerdict& verdict) {
  return verdict.tested ? "the hardware counters are not to be trusted: " + verdict.why
                        : "the hardware counters cannot be used: " + verdict.why;
}

}  // namespace

PmuVerdict verdict_here(const Cpu& cpu) {
  const auto calibration = load_calibration(calibration_path());
  return find_verdict(cpu, calibration ? calibration->cache_latency_ns : 0);
}

ChosenSource choose_source(SourceChoice wanted, const Cpu& cpu, const PmuVerdict& verdict, bool samples,
                           bool traffic) {
  if (wanted == SourceChoice::kSampler) return samples ? sampler("asked for") : nothing("");
  const Microarchitecture* design = find_events(cpu.signature);
  const bool trusted = verdict.trusted && design != nullptr;
  if (const std::string lacking = trusted && traffic ? why_no_traffic(*design, verdict) : "";
      !lacking.empty())
    return samples ? sampler(lacking) : nothing(lacking);
  if (trusted) {
    return {.name = "pmu",
            .text = "this processor's counters",
            .why = verdict.why,
            .counts = counts_of(*design, cpu.numa_nodes, verdict.episodes),
            .design = design};
  }
  ChosenSource substitute = samples ? sampler(why_not(verdict)) : nothing(why_not(verdict));
  substitute.mend = verdict.mend;
  return substitute;
}

ChosenSource choose_source_here(SourceChoice wanted, bool traffic) {
  if (wanted == SourceChoice::kSampler) return choose_source(wanted, {}, {}, kDecodes);
  const Cpu cpu = read_cpu();
  return choose_source(wanted, cpu, verdict_here(cpu), kDecodes, traffic);
}

std::string explain_substitute(const ChosenSource& source) {
  return fmt::format("--source pmu: {}; {}{}", source.why,
                     source.name == "none" ? "the program runs natively" : "the sampler measures instead",
                     source.mend.empty() ? "" : fmt::format(" (to mend it: {})", source.mend));
}

}  // namespace nvmemu
