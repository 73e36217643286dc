// SPDX-License-Identifier: Apache-2.0
// What counts in this process: hardware counters where they have passed their test, else the sampler.
#pragma once

#include <string>

#include "counters/load_counts.h"
#include "counters/pmu/pmu_source.h"
#include "epoch/config.h"
#include "host/calibration.h"
#include "model/latency_model.h"

namespace nvmemu::preload {

struct SourceDecision {
  const char* name = "sampler";      // as in the report: "pmu", "sampler" or "replay"
  const char* text = "the sampler";  // as in messages
  std::string why = "asked for";
  const Microarchitecture* design = nullptr;  // whose events are counted; null: none are
  int numa_nodes = 1;
  CountSet counts = kSamplerCounts;  // what models can be fed
  std::string warning = {};          // the counters were asked for, and are not to be had; empty: nothing
};

// The counters are not tried here: what the verdict says of them is taken for granted (NVMEMU_VERDICT, or the
// cached one). Not for a replay. Allocates, and reads files.
SourceDecision decide_source(const Config& config);

// Where the counters are to be used: for each thread's source.
PmuSourceOptions pmu_options_for(const SourceDecision& decision, const ReadLatency& latency,
                                 const Calibration& calibration, double epoch_ns, bool counts_traffic);

}  // namespace nvmemu::preload
