// SPDX-License-Identifier: Apache-2.0
// The experiments of tiers and of writes, as data.
#pragma once

#include <string>
#include <vector>

#include "suite/catalogue.h"

namespace nvmemu::suite {

// `size`: of sets in memory, as programs take it. `seconds`: of a native run.
std::vector<Experiment> memory_experiments(const Machine& machine, const std::string& size, double seconds,
                                           double set_up_seconds);

}  // namespace nvmemu::suite
