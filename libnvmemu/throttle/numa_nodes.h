// SPDX-License-Identifier: Apache-2.0
// Which node has which processors, and which package these are in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nvmemu {

struct NumaNode {
  int id;
  int package;            // of its first processor; -1: it has none, or the machine does not say
  std::vector<int> cpus;  // that are online
};

// In the order of their ids, from sysfs under `root`; empty where the machine does not say.
std::vector<NumaNode> read_numa_nodes(const std::string& root);

// "0-3,8" -> 0 1 2 3 8; what is no number ends it.
std::vector<int> parse_cpu_list(std::string_view list);

}  // namespace nvmemu
