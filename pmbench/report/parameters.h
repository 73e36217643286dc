// SPDX-License-Identifier: Apache-2.0
// What a run was asked to do and where, by name: what must be the same for runs to be averaged.
#pragma once

#include <span>
#include <string>

#include "run/result.h"

namespace nvmemu::pmbench {

struct Parameter {
  const char* name;
  std::string (*of)(const RunResult&);
};

std::span<const Parameter> parameters();

}  // namespace nvmemu::pmbench
