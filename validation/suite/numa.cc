// SPDX-License-Identifier: Apache-2.0
#include "suite/numa.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/read_file.h"
#include "host/statistics.h"
#include "throttle/numa_nodes.h"

namespace nvmemu::suite {
namespace {

constexpr int kChases = 3;

std::string folder_of(const std::string& root, int node) {
  return fmt::format("{}/sys/devices/system/node/node{}", root, node);
}

bool has_memory(const std::string& root, int node) {
  std::istringstream file(
      read_text_or_nothing(folder_of(root, node) + "/meminfo"));  // "Node 0 MemTotal:       24684084 kB"
  std::string word;
  double kibibytes = 0;
  while (file >> word && word != "MemTotal:") continue;
  return (file >> kibibytes) && kibibytes > 0;
}

// From one node to each, in the order of their ids (ACPI SLIT, by way of sysfs).
std::vector<int> distances_of(const std::string& root, int node) {
  std::istringstream file(read_text_or_nothing(folder_of(root, node) + "/distance"));
  return {std::istream_iterator<int>(file), {}};
}

Result<double> chase_ns(Runs& runs, const Experiment& chase, const Placement& placement,
                        const MeasureOptions& options, const char* what) {
  std::vector<double> latencies_ns;
  for (int i = 0; i < kChases; ++i) {
    if (options.progress) options.progress(what);
    const auto run = runs.native(chase, placement);
    if (!run) return tl::unexpected<Error>(run.error());
    if (!run->critical_loads) return failure("the chase does not say how many loads it made");
    latencies_ns.push_back(run->seconds * 1e9 / *run->critical_loads);
  }
  return median(latencies_ns);
}

}  // namespace

Result<NodePair> choose_nodes(const std::string& root) {
  const std::vector<NumaNode> nodes = read_numa_nodes(root);
  const auto with_both = std::ranges::find_if(
      nodes, [&](const NumaNode& node) { return !node.cpus.empty() && has_memory(root, node.id); });
  if (with_both == nodes.end())
    return failure("no NUMA node with processors and memory", "the kernel may be built without NUMA");
  const std::vector<int> distances = distances_of(root, with_both->id);
  std::optional<std::size_t> farthest;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id == with_both->id || !has_memory(root, nodes[i].id)) continue;
    const auto distance = [&](std::size_t at) { return at < distances.size() ? distances[at] : 0; };
    if (!farthest || distance(i) > distance(*farthest)) farthest = i;
  }
  if (!farthest)
    return failure("this machine has one NUMA node with memory, and none that is slower",
                   "a second one is needed: another socket, sub-NUMA clusters (a BIOS setting), CXL memory, "
                   "or a virtual machine "
                   "whose nodes the host keeps on two sockets");
  return NodePair{with_both->id, nodes[*farthest].id, with_both->cpus};
}

SlowerMemory memory_of(const NodePair& nodes, const NodeLatencies& latencies) {
  return {.own = {nodes.processors, nodes.processors},
          .slower = {nodes.processors, nodes.memory},
          .base_ns = latencies.local_ns,
          .target_ns = latencies.remote_ns,
          .cache_is_base = false};
}

Result<SlowerMemory> measure_nodes(Runs& runs, const Experiment& chase, const NodePair& nodes,
                                   const MeasureOptions& options) {
  SlowerMemory memory = memory_of(nodes, {});
  const auto base_ns = chase_ns(runs, chase, memory.own, options, "chase on the own node");
  if (!base_ns) return tl::unexpected<Error>(base_ns.error());
  const auto target_ns = chase_ns(runs, chase, memory.slower, options, "chase on the other node");
  if (!target_ns) return tl::unexpected<Error>(target_ns.error());
  memory.base_ns = *base_ns;
  memory.target_ns = *target_ns;
  return memory;
}

std::string why_not_slower(const SlowerMemory& memory) {
  if (memory.target_ns >= kLeastSlower * memory.base_ns) return {};
  return fmt::format(
      "the memory of node {} takes {:.1f} ns a load, that of node {} {:.1f} ns: it is not slower by {:.0f} "
      "%, and "
      "so says nothing of the emulation (--node-latencies, if their latencies are known to be others)",
      memory.slower.memory_node.value_or(0), memory.target_ns, memory.own.memory_node.value_or(0),
      memory.base_ns, 100 * (kLeastSlower - 1));
}

Result<SlowerMemory> measure_cache_and_memory(Runs& runs, const Experiment& chase,
                                              const MeasureOptions& options) {
  Experiment in_memory = chase;
  in_memory.arguments = chase.slower_arguments;
  const auto base_ns = chase_ns(runs, chase, {}, options, "chase in the cache");
  if (!base_ns) return tl::unexpected<Error>(base_ns.error());
  const auto target_ns = chase_ns(runs, in_memory, {}, options, "chase in memory");
  if (!target_ns) return tl::unexpected<Error>(target_ns.error());
  if (*target_ns <= *base_ns)
    return failure(fmt::format("memory takes {:.1f} ns a load, the cache {:.1f} ns", *target_ns, *base_ns),
                   "there is nothing to emulate between them");
  SlowerMemory memory;
  memory.base_ns = *base_ns;
  memory.target_ns = *target_ns;
  memory.cache_is_base = true;
  return memory;
}

}  // namespace nvmemu::suite
