// SPDX-License-Identifier: Apache-2.0
// What counts stalls in a run: decided before it starts, in one place for all commands.
#pragma once

#include <string>

#include "counters/load_counts.h"
#include "counters/pmu/verdict.h"
#include "epoch/config.h"
#include "host/cpu.h"

namespace nvmemu {

struct Microarchitecture;

struct ChosenSource {
  std::string name;  // as in the report: "pmu", "sampler", "replay", or "none": programs run natively
  std::string text;  // as in messages: "this processor's counters"
  std::string why;
  std::string mend = {};  // how to get the counters, where they are not taken though they were wanted
  CountSet counts = 0;    // what models can be fed
  const Microarchitecture* design = nullptr;  // whose events are counted; null: none are
};

// What the test of this machine's counters found: the one that is kept, or it is made now (some 50 ms where
// there are counters).
PmuVerdict verdict_here(const Cpu& cpu);

// `wanted`: all but a replay. `samples`: whether there is a sampler for this processor. `traffic`: what is
// moved to and from memory is to be told, too.
ChosenSource choose_source(SourceChoice wanted, const Cpu& cpu, const PmuVerdict& verdict, bool samples,
                           bool traffic = false);

// Likewise, with what this machine is and has; the counters are only tried where they are wanted.
ChosenSource choose_source_here(SourceChoice wanted, bool traffic = false);

// That counters were asked for and are not used: a sentence, with the mend.
std::string explain_substitute(const ChosenSource& source);

}  // namespace nvmemu
