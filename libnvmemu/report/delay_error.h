// SPDX-License-Identifier: Apache-2.0
// How far a run's delays may be off.
#pragma once

#include <cstdint>

#include "report/run_report.h"
#include "report/silence.h"

namespace nvmemu {

// Of CPU time, what counters must have seen for their counts to speak for all of it.
inline constexpr double kSeenThroughout = 0.9;

inline bool is_counted(const RunReport& report) { return report.source_name == "pmu"; }
// What its source tells, as far as boards have it: of records that are replayed, or of several sources, no
// more than all of these do.
inline CountSet counts_of(const RunReport& report) {
  return report.source_name == "sampler" ? kSamplerCounts : kCountsStall | kCountsMisses;
}

// Into `report`, which has its totals and its source: the error, or why there is none; and of a run that was
// counted how much of it was. `time`: of processes that told of theirs.
void estimate_error(const SampledRun& time, RunReport& report);

}  // namespace nvmemu
