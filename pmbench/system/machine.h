// SPDX-License-Identifier: Apache-2.0
// What machine this is, for the report.
#pragma once

#include <string>
#include <vector>

#include "run/result.h"

namespace nvmemu::pmbench {

// From uname(2), and from /proc and /sys under `root`. `tsc_khz`: as measured; 0 where there is none.
MachineInfo read_machine(double tsc_khz, const std::string& root = "");

// Of the first processor: as sysfs tells, else (x86) the processor itself.
std::vector<Cache> read_caches(const std::string& root);
std::vector<Cache> caches_by_cpuid();

}  // namespace nvmemu::pmbench
