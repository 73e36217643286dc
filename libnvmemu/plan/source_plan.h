// SPDX-License-Identifier: Apache-2.0
// What counts stalls: decided here for a run, by the tool before it starts, and for a process that is
// preloaded alone.
#pragma once

#include <functional>
#include <string>

#include "counters/load_counts.h"
#include "counters/pmu/verdict.h"
#include "host/cpu.h"
#include "plan/config.h"
#include "walk/decode/decode.h"

namespace nvmemu {

struct SourceNeeds {
  SourceChoice wanted = SourceChoice::kAuto;  // all but a replay
  bool traffic = false;                       // what is moved to and from memory is to be told, too,
  bool tiers = false;                         // and which memory was waited for
  bool has_sampler = kDecodes;                // there is one for this processor

  bool allow_counters() const { return wanted != SourceChoice::kSampler && !tiers; }
};

// By the tool and by a process that is preloaded alone: what a run asks of its source.
SourceNeeds source_needs_of(const Config& config);

struct SourcePlan {
  std::string name;  // as in the report: "pmu", "sampler", "replay", or "none": programs run natively
  std::string text;  // as in messages: "this processor's counters"
  std::string why;
  std::string mend = {};  // how to get the counters, where they are not taken though they may do
  CountSet counts = 0;    // what models can be fed
  const Microarchitecture* design = nullptr;  // whose events are counted; null: none are
  int numa_nodes = 1;
};

SourcePlan plan_source(const SourceNeeds& needs, const Cpu& cpu, const PmuVerdict& verdict);

// Likewise on this machine; of the counters is only asked where they may do.
SourcePlan plan_source_here(const SourceNeeds& needs,
                            const std::function<PmuVerdict(const Cpu&)>& find_verdict);

// That counters were asked for and are not used: a sentence, with the mend.
std::string explain_substitute(const SourcePlan& source);

}  // namespace nvmemu
