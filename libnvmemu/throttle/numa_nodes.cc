// SPDX-License-Identifier: Apache-2.0
#include "throttle/numa_nodes.h"

#include <charconv>
#include <optional>

#include "base/text.h"
#include "throttle/files.h"

namespace nvmemu {
namespace {

constexpr int kMostCpus = 1 << 16;

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0 || value >= kMostCpus) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

int package_of(const std::string& root, int cpu) {
  const auto text =
      read_file(root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id");
  if (!text) return -1;
  std::string_view digits = trimmed(*text);
  return take_number(digits).value_or(-1);
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view list) {
  std::vector<int> cpus;
  list = trimmed(list);
  while (const auto first = take_number(list)) {
    int last = *first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = take_number(list).value_or(*first);
    }
    for (int cpu = *first; cpu <= last && cpus.size() < kMostCpus; ++cpu) cpus.push_back(cpu);
    if (!list.starts_with(',')) break;
    list.remove_prefix(1);
  }
  return cpus;
}

std::vector<NumaNode> read_numa_nodes(const std::string& root) {
  std::vector<NumaNode> nodes;
  const std::string folder = root + "/sys/devices/system/node/";
  for (const int id : parse_cpu_list(read_file(folder + "online").value_or(""))) {
    NumaNode node{id, -1,
                  parse_cpu_list(read_file(folder + "node" + std::to_string(id) + "/cpulist").value_or(""))};
    if (!node.cpus.empty()) node.package = package_of(root, node.cpus.front());
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace nvmemu
