// SPDX-License-Identifier: Apache-2.0
#include "node_tree.h"

#include <fmt/format.h>
#include <fmt/os.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/read_file.h"
#include "host/memory_nodes.h"
#include "tier/node_history.h"

namespace nvmemu {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRealTree = "/sys/devices/system/node";

struct Node {
  int number;
  const TierSpec* tier;  // null: the machine's
};

// By their numbers.
std::vector<Node> nodes_of(const TierPlan& plan, std::uint64_t real) {
  std::vector<Node> nodes;
  for (int number = 0; number < 64; ++number) {
    if ((real >> number & 1) != 0) nodes.push_back({number, nullptr});
  }
  for (const TierSpec& tier : plan.tiers) {
    if (tier.node != 0) nodes.push_back({tier.node, &tier});
  }
  std::ranges::sort(nodes, {}, &Node::number);
  return nodes;
}

std::vector<int> numbers_in(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream words(text);
  for (int number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

struct Maker {
  fs::path tree, real;
  const MemoryNodes& machine;
  double own_ns;
  const std::vector<Node>& nodes;

  static void write(const fs::path& path, const std::string& text) {
    fmt::output_file(path.string()).print("{}\n", text);
  }

  static void write_zeros(const fs::path& path, std::size_t bytes) {
    fmt::output_file(path.string()).print("{}", std::string(bytes, '\0'));
  }

  // Links to all that the kernel has there, but for what is made anew.
  void link_all(const fs::path& from, const fs::path& to) const {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(from, ignored)) {
      const fs::path link = to / entry.path().filename();
      if (!fs::exists(fs::symlink_status(link))) fs::create_symlink(entry.path(), link);
    }
  }

  double latency_of(const Node& node) const {
    return node.tier == nullptr ? own_ns : node.tier->memory.read.ns;
  }
  // As the kernel has it between two of the machine's.
  int distance(const Node& from, const Node& to, const std::vector<int>& known) const {
    constexpr int kOwn = 10, kOther = 20;
    if (from.number == to.number) return kOwn;
    if (from.tier != nullptr || to.tier != nullptr)
      return node_distance(std::max(latency_of(from), latency_of(to)), own_ns);
    const auto at = static_cast<std::size_t>(std::ranges::count_if(
        nodes, [&](const Node& node) { return node.tier == nullptr && node.number < to.number; }));
    return at < known.size() ? known[at] : kOther;
  }

  std::string distances(const Node& from) const {
    const auto known =
        numbers_in(read_text_or_nothing(real / fmt::format("node{}", from.number) / "distance"));
    std::vector<int> row;
    for (const Node& to : nodes) row.push_back(distance(from, to, known));
    return fmt::format("{}", fmt::join(row, " "));
  }

  void make_memory(const Node& node, const fs::path& folder) const {
    const std::uint64_t kib = (node.tier->node_bytes != 0 ? node.tier->node_bytes : machine.bytes) / 1024;
    std::string text;
    for (const auto& [name, value] : {std::pair("MemTotal", kib),
                                      {"MemFree", kib},
                                      {"MemUsed", 0},
                                      {"FilePages", 0},
                                      {"AnonPages", 0},
                                      {"Active", 0},
                                      {"Inactive", 0}})
      text += fmt::format("Node {} {:<15} {:>8} kB\n", node.number, fmt::format("{}:", name), value);
    for (const char* name : {"HugePages_Total", "HugePages_Free", "HugePages_Surp"})
      text += fmt::format("Node {} {:<15} {:>6}\n", node.number, fmt::format("{}:", name), 0);
    text.pop_back();
    write(folder / "meminfo", text);
    write(folder / "cpulist", "");
    write(folder / "cpumap", "0");
    write(folder / "numastat",
          "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0");
  }

  // What firmware tells of a memory's speed (HMAT), seen from the processors: hwloc's memory attributes.
  void make_performance(const Node& node, const fs::path& folder) const {
    const fs::path initiators = folder / "access0" / "initiators";
    fs::create_directories(initiators);
    write(initiators / "read_latency", fmt::format("{:.0f}", latency_of(node)));
    for (const Node& other : nodes) {
      const std::string name = fmt::format("node{}", other.number);
      if (other.tier == nullptr) fs::create_symlink(fs::path("../../..") / name, initiators / name);
    }
  }

  void make(const Node& node) const {
    const std::string name = fmt::format("node{}", node.number);
    const fs::path folder = tree / name;
    fs::create_directory(folder);
    write(folder / "distance", distances(node));
    if (node.tier != nullptr) make_memory(node, folder);
    if (!fs::exists(real / name / "access0")) make_performance(node, folder);
    if (node.tier == nullptr) link_all(real / name, folder);
  }

  void make_all() const {
    std::uint64_t all = 0;
    for (const Node& node : nodes) {
      make(node);
      all |= std::uint64_t{1} << node.number;
    }
    write_zeros(tree / kNodeHistoryName, sizeof(NodeHistory));
    for (const char* name : {"online", "possible", "has_memory", "has_normal_memory"})
      write(tree / name, list_of_mask(all));
    link_all(real, tree);
  }
};

}  // namespace

int node_distance(double latency_ns, double own_ns) {
  constexpr double kOwn = 10, kLeast = 11, kMost = 254;
  return static_cast<int>(std::lround(std::clamp(kOwn * latency_ns / own_ns, kLeast, kMost)));
}

Result<NodeTree> NodeTree::create(const TierPlan& plan, const MemoryNodes& machine, double own_ns,
                                  TemporaryFiles& temporary, const std::string& root) {
  NodeTree made(temporary.make_folder("nvmemu-nodes"));
  if (made.folder_.empty())
    return failure("no folder could be made for the nodes that are emulated", "set TMPDIR to a writable one");
  try {
    fs::create_directory(made.path_);
    const std::vector<Node> nodes = nodes_of(plan, machine.online);
    Maker{made.path_, root + kRealTree, machine, own_ns, nodes}.make_all();
  } catch (const std::system_error& error) {
    return failure(fmt::format("the nodes that are emulated could not be shown: {}", error.what()));
  }
  return made;
}

NodeTree::NodeTree(std::string folder) : folder_(std::move(folder)), path_(folder_ + "/node") {}

NodeTree::NodeTree(NodeTree&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), path_(std::move(other.path_)) {}

NodeTree::~NodeTree() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace nvmemu
