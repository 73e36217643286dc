// SPDX-License-Identifier: Apache-2.0
// Memory policies (set_mempolicy(2)) where some of the NUMA nodes that they name are emulated: tiers that the
// kernel knows nothing of. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tier/tier_pattern.h"

namespace nvmemu {

using NodeMask = std::uint64_t;  // a bit for each of the nodes 0 to 63
inline constexpr std::size_t kMostNodes = 64;

constexpr NodeMask mask_of_node(int node) noexcept { return NodeMask{1} << node; }

// Which nodes a program sees.
struct Nodes {
  NodeMask real = 1;
  NodeMask emulated = 0;
  std::array<TierId, kMostNodes> tiers{};  // of the emulated ones
  std::array<std::uint8_t, kMostTiers> node_of_tier{};
  std::uintptr_t page_bytes = 4096;  // of what is interleaved over nodes

  void add(int node, TierId tier) noexcept {
    emulated |= mask_of_node(node);
    tiers[static_cast<std::size_t>(node)] = tier;
    node_of_tier[tier] = static_cast<std::uint8_t>(node);
  }
  NodeMask all() const noexcept { return real | emulated; }
  // Whether any of it is on an emulated node.
  bool have_part_of(const TierPattern& pattern) const noexcept {
    for (std::size_t i = 0; i < pattern.count; ++i) {
      if (node_of_tier[pattern.parts[i].tier] != 0) return true;
    }
    return false;
  }
  bool is_emulated(int node) const noexcept {
    return node >= 0 && static_cast<std::size_t>(node) < kMostNodes && (emulated & mask_of_node(node)) != 0;
  }
};

struct MemoryPolicy {
  std::int32_t mode = 0;  // MPOL_DEFAULT, and so on, with its flags
  NodeMask nodes = 0;

  friend bool operator==(const MemoryPolicy&, const MemoryPolicy&) = default;
};

// Where memory lies that is touched under it. As in the kernel: processors' own nodes are nearer than those
// without processors, so that of several nodes a real one is taken; interleaved pages go to the nodes in
// turn, weighted alike. What no node is full of, nothing falls back from.
TierPattern pattern_of(const MemoryPolicy& policy, const Nodes& nodes) noexcept;

// What the kernel is to be told in its place: the real ones of its nodes, or all where it has none.
NodeMask real_nodes_of(NodeMask asked, const Nodes& nodes) noexcept;

// Which nodes /proc/self/numa_maps names with it; of what the kernel is told in its place, `told`, and of
// what the program asked for.
NodeMask named_nodes(const MemoryPolicy& policy, NodeMask told) noexcept;
NodeMask named_nodes(const MemoryPolicy& policy, const Nodes& nodes) noexcept;

// Where migrate_pages(2) moves what lies on the nodes `from`, one node after the other: the first of `from`
// to the first of `to`, and so on, beginning anew where these are fewer. Of more or fewer nodes than `to`,
// those that are in both keep what they have.
struct NodeMove {
  int from = 0, to = 0;

  friend bool operator==(const NodeMove&, const NodeMove&) = default;
};
struct NodeMoves {
  std::array<NodeMove, kMostNodes> moves{};
  std::size_t count = 0;

  const NodeMove* begin() const noexcept { return moves.data(); }
  const NodeMove* end() const noexcept { return moves.data() + count; }
};
NodeMoves moves_between(NodeMask from, NodeMask to) noexcept;

}  // namespace nvmemu
