// SPDX-License-Identifier: Apache-2.0
// The latency of a run's major faults, by the best that is known of which accesses they were.
#pragma once

#include <cstdint>
#include <string_view>

#include "output/totals.h"

namespace nvmemu::pmbench {

struct MajorFaults {
  // Which accesses these are: those seen to fault (a sample); or, where none was looked at, the slowest, as
  // many of them as the kernel counted major faults, of the process or of the whole machine.
  enum class Basis : std::uint8_t { kNone, kClassed, kSlowestByRusage, kSlowestByVmstat };
  Basis basis = Basis::kNone;
  std::uint64_t count = 0;
  double mean_ns = 0;
  double mode_ns = 0;
};

MajorFaults major_faults_of(const RunResult& result, const Totals& totals);

std::string_view explain(MajorFaults::Basis basis);

}  // namespace nvmemu::pmbench
