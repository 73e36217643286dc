// SPDX-License-Identifier: Apache-2.0
// The nodes that a NUMA machine is compared with itself by: processors on one, memory there or on another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "suite/measure.h"
#include "suite/runs.h"

namespace nvmemu::suite {

struct NodePair {
  int processors;  // the node whose processors run, and whose memory is the base
  int memory;      // the farthest one that has memory
  std::vector<int> cpus;
};

// From sysfs under `root`. An error says what the machine lacks.
Result<NodePair> choose_nodes(const std::string& root);

// NVMpro's Conf. 1 and Conf. 2 (ICPE 2015, section 3) on these nodes: base and target are what a chase takes
// natively in each, the median of three. An error where a run fails, or the farther memory is not slower.
Result<SlowerMemory> measure_nodes(Runs& runs, const Experiment& chase, const NodePair& nodes,
                                   const MeasureOptions& options);

// The same of a set in the cache and one in memory: `chase` has both.
Result<SlowerMemory> measure_cache_and_memory(Runs& runs, const Experiment& chase,
                                              const MeasureOptions& options);

}  // namespace nvmemu::suite
