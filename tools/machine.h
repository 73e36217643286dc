// SPDX-License-Identifier: Apache-2.0
// What `nvmemu run` must know of this machine before it starts a command.
#pragma once

#include <string>
#include <vector>

#include "bandwidth_limit.h"
#include "base/result.h"
#include "counters/pmu/verdict.h"
#include "host/cpu.h"
#include "run_files.h"

namespace nvmemu {

struct Machine {
  std::string calibration_file;  // for the command to read
  double clock_hz = 0;
  double base_latency_ns = 0;
  double cache_latency_ns = 0;
  double persist_latency_ns = 0;
  double base_spread = 0;  // relative, of its measurement; 0 where it was given
  std::vector<std::string> warnings;
};

// The cached calibration, made now (in some 15 s, with a note on stderr unless `quiet`) where there is none,
// and the base latency as it is at the moment; `given_base_ns` in its place where that is above 0. A
// calibration that cannot be cached is a temporary file.
Result<Machine> read_machine(double given_base_ns, bool quiet, TemporaryFiles& temporary);

// What the test of this machine's counters found: the one that is kept, or it is made now (some 50 ms where
// there are counters).
PmuVerdict verdict_here(const Cpu& cpu);

// What its cores move, as the calibration in `machine` has it; measured now (some 2 s), and kept there, where
// it does not.
Result<NativeBandwidth> read_bandwidth(const Machine& machine, bool quiet);

}  // namespace nvmemu
