// SPDX-License-Identifier: Apache-2.0
// What there is to be said of this machine: what it is, what it allows, what nvmemu run would use of it, and
// how good an emulation to expect.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "counters/pmu/catalogue.h"
#include "host/calibrate.h"
#include "host/calibration.h"
#include "host/capabilities.h"
#include "host/cpu.h"
#include "plan/source_plan.h"

namespace nvmemu {

struct NamedCapability {
  const char* key;
  const char* label;
  Capability Capabilities::*member;
};

inline constexpr std::array kCapabilities{
    NamedCapability{"pmu", "hardware counters", &Capabilities::pmu},
    NamedCapability{"task_clock", "task-clock samples", &Capabilities::task_clock},
    NamedCapability{"thread_cpu_timer", "thread CPU timers", &Capabilities::thread_cpu_timer},
    NamedCapability{"huge_pages", "huge pages", &Capabilities::huge_pages},
    NamedCapability{"invariant_tsc", "invariant TSC", &Capabilities::invariant_tsc},
    NamedCapability{"numa", "second NUMA node", &Capabilities::numa},
};

struct Choice {
  std::string name, why;
};

struct MachineInfo {
  Cpu cpu;
  Capabilities capabilities;
  Capability paging;  // of --dram
  PmuVerdict counters;
  std::string calibration_file;
  Result<Calibration> calibration = failure("");
  Result<Refresh> now = failure("");  // only where there is a calibration
  SourcePlan chosen;
  Choice source, ticker, walks, model;
  std::vector<std::string> improvements;
};

// Takes some 50 ms, and as long again where there are hardware counters to be tested.
MachineInfo gather_info();

// Of n samples, 1/sqrt(n): 10 s at the ticker's rate; 0 where there is none.
double statistical_error(const MachineInfo& info);

// Each part of the error, in its own sentence; what is not known is said so.
std::vector<std::string> expected_error(const MachineInfo& info);

}  // namespace nvmemu
