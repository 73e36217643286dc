// SPDX-License-Identifier: Apache-2.0
// A folder that looks as /sys/devices/system/node does, with a node more for each tier that is to be seen as
// one: memory and no processors. Of the machine's own nodes it has links to what the kernel says.
#pragma once

#include <string>

#include "base/result.h"
#include "host/memory_nodes.h"
#include "plan/tier_plan.h"
#include "run_files.h"

namespace nvmemu {

// Gone when this is, or at the latest with `temporary`.
class NodeTree {
 public:
  // The nodes of `plan`, whose latencies are in ns, beside the machine's, of `own_ns`; `root` has a /sys.
  static Result<NodeTree> create(const TierPlan& plan, const MemoryNodes& machine, double own_ns,
                                 TemporaryFiles& temporary, const std::string& root = "");
  NodeTree(NodeTree&& other) noexcept;
  NodeTree& operator=(NodeTree&&) = delete;
  ~NodeTree();

  const std::string& path() const { return path_; }

 private:
  explicit NodeTree(std::string folder);

  std::string folder_;  // with what else belongs to it (NodeHistory)
  std::string path_;
};

// How far a node is from another, as the kernel counts: 10 for the own one, in proportion for what takes
// `latency_ns` where the own takes `own_ns`; 11 to 254.
int node_distance(double latency_ns, double own_ns);

}  // namespace nvmemu
