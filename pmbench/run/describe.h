// SPDX-License-Identifier: Apache-2.0
// What every result says of its run: by which program, on which machine, when.
#pragma once

#include <ctime>
#include <string>

#include "run/result.h"

namespace nvmemu::pmbench {

struct RunDescription {
  std::string version;  // "pmbench 1.0"
  MachineInfo machine;
  std::tm started{};  // now, in UTC
};

RunDescription describe_run();

}  // namespace nvmemu::pmbench
