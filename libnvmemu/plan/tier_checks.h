// SPDX-License-Identifier: Apache-2.0
// Whether a tier can be had on this machine: its files, its node, its sizes, its latency. Asked before a
// program starts, by the tool or, without it, by the process itself.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/memory_nodes.h"
#include "plan/tier_plan.h"

namespace nvmemu {

// Its files as the kernel names them, whatever links lead there. An error where one is not there: what is not
// there yet could be on any file system.
Result<void> find_tier_files(TierSpec& tier);

// An error where a file of it is another's of `plan`, too, or below one: once by name, and again when they
// have been found.
Result<void> check_tier_files(const TierPlan& plan, const TierSpec& tier);

// An error where a machine of these nodes has the tier's node itself.
Result<void> check_tier_node(const TierSpec& tier, const MemoryNodes& machine);

// That it asks for more than the machine has; nothing where it is not known what that has.
std::vector<std::string> warnings_of_sizes(const TierSpec& tier, const MemoryNodes& machine);

// What a read from it is to take where one of the machine's own memory takes `base_ns`. An error as of
// reachable_target_ns(), but for storage: where this machine is slower, it is as it is.
Result<double> tier_target_ns(const TierSpec& tier, double base_ns);

}  // namespace nvmemu
