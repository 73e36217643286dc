// SPDX-License-Identifier: Apache-2.0
// What counts in this process: as planned, with what is known here of the counters.
#pragma once

#include "counters/pmu/pmu_source.h"
#include "host/calibration.h"
#include "model/latency_model.h"
#include "plan/source_plan.h"

namespace nvmemu::preload {

// The counters are not tried here: what the verdict says of them is taken for granted (NVMEMU_VERDICT, or the
// cached one). Not for a replay. Allocates, and reads files.
SourcePlan process_source(const Config& config);

// Where the counters are to be used: for each thread's source.
PmuSourceOptions pmu_options_for(const SourcePlan& source, const ReadLatency& latency,
                                 const Calibration& calibration, double epoch_ns, bool counts_traffic);

}  // namespace nvmemu::preload
