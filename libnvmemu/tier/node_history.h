// SPDX-License-Identifier: Apache-2.0
// What the processes of a run that have ended have had on emulated nodes: a file that all of them map, zeros
// at first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "tier/memory_policy.h"

namespace nvmemu {

// Pages of one node.
struct NodeTally {
  std::atomic<std::uint64_t> all, interleaved;
};

struct NodeHistory {
  struct Node {
    NodeTally ended;  // of processes that have
    NodeTally most;   // that have been told: they never become fewer
  };
  std::array<Node, kMostNodes> nodes;
};

// Beside the folder in which nodes are shown.
inline constexpr const char* kNodeHistoryName = "../history";

}  // namespace nvmemu
