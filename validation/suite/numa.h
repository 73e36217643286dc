// SPDX-License-Identifier: Apache-2.0
// The nodes that a NUMA machine is compared with itself by: processors on one, memory there or on another.
#pragma once

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

// Of the own node's memory and the other's, where they are known and need not be measured.
struct NodeLatencies {
  double local_ns = 0, remote_ns = 0;
};

// NVMpro's Conf. 1 and Conf. 2 (ICPE 2015, section 3) on these nodes, with these latencies as base and
// target.
SlowerMemory memory_of(const NodePair& nodes, const NodeLatencies& latencies);

// Likewise; base and target are what a chase takes natively in each, the median of three. The other memory
// may turn out to be no slower: see why_not_slower(). An error where a run fails.
Result<SlowerMemory> measure_nodes(Runs& runs, const Experiment& chase, const NodePair& nodes,
                                   const MeasureOptions& options);

// Nearer to the base than this, two latencies are not told apart from one that drifts.
constexpr double kLeastSlower = 1.05;

// Why nodes of such memories say nothing of the emulation, in a sentence; empty: they do.
std::string why_not_slower(const SlowerMemory& memory);

// The same of a set in the cache and one in memory: `chase` has both. An error where a run fails, or memory
// is not slower.
Result<SlowerMemory> measure_cache_and_memory(Runs& runs, const Experiment& chase,
                                              const MeasureOptions& options);

}  // namespace nvmemu::suite
