// SPDX-License-Identifier: Apache-2.0
#include "tier/memory_policy.h"

#include <linux/mempolicy.h>

#include <bit>

namespace nvmemu {
namespace {

constexpr int kWeightedInterleave = 6;  // of Linux 6.9: older headers have no name for it

// The one of `to` that is as far up in it as `node` is in `from`.
int partner_of(int node, NodeMask from, NodeMask to) noexcept {
  const NodeMask before = from & (mask_of_node(node) - 1);
  for (int rank = std::popcount(before) % std::popcount(to); rank > 0; --rank) to &= to - 1;
  return std::countr_zero(to);
}

TierPattern nearest_of(NodeMask asked, const Nodes& nodes) noexcept {
  const NodeMask emulated = asked & nodes.emulated;
  if (emulated == 0 || (asked & nodes.real) != 0) return {};
  return TierPattern::all_of(nodes.tiers[static_cast<std::size_t>(std::countr_zero(emulated))]);
}

// Neighbours of the same tier are one part, and there are fewer tiers than parts in any order but one.
TierPattern in_turn(NodeMask asked, const Nodes& nodes) noexcept {
  TierPattern pattern{.count = 0, .page_bytes = nodes.page_bytes};
  for (NodeMask left = asked & nodes.all(); left != 0; left &= left - 1) {
    const auto node = static_cast<std::size_t>(std::countr_zero(left));
    const TierId tier = nodes.tiers[node];
    if (pattern.count > 0 && pattern.parts[pattern.count - 1].tier == tier) {
      ++pattern.parts[pattern.count - 1].pages;
    } else if (pattern.count < pattern.parts.size()) {
      pattern.parts[pattern.count++] = {.tier = tier, .pages = 1};
    }
  }
  if (pattern.count == 0) return {};
  return pattern.count == 1 ? TierPattern::all_of(pattern.parts[0].tier) : pattern;
}

}  // namespace

TierPattern pattern_of(const MemoryPolicy& policy, const Nodes& nodes) noexcept {
  switch (policy.mode & ~MPOL_MODE_FLAGS) {
    case MPOL_PREFERRED:
    case MPOL_PREFERRED_MANY:
    case MPOL_BIND:
      return nearest_of(policy.nodes, nodes);
    case MPOL_INTERLEAVE:
    case kWeightedInterleave:
      return in_turn(policy.nodes, nodes);
    default:  // MPOL_DEFAULT, MPOL_LOCAL
      return {};
  }
}

NodeMask real_nodes_of(NodeMask asked, const Nodes& nodes) noexcept {
  // Read once: of two reads GCC 12 makes an 'and' with a register that nobody has filled.
  const NodeMask all = nodes.real;
  const NodeMask real = asked & all;
  return real == 0 ? all : real;
}

// A node goes before those that others' pages are about to come to, so that these do not move twice. Where
// nodes exchange theirs, that cannot be: as in the kernel, the last one begins.
NodeMoves moves_between(NodeMask from, NodeMask to) noexcept {
  NodeMoves moves;
  if (to == 0) return moves;
  const NodeMask staying = std::popcount(from) == std::popcount(to) ? 0 : to;
  for (NodeMask left = from; left != 0;) {
    NodeMove next{.from = -1};
    for (NodeMask candidates = left & ~staying; candidates != 0; candidates &= candidates - 1) {
      const int node = std::countr_zero(candidates), partner = partner_of(node, from, to);
      if (node == partner) continue;
      next = {.from = node, .to = partner};
      if ((left & mask_of_node(partner)) == 0) break;
    }
    if (next.from < 0) break;
    left &= ~mask_of_node(next.from);
    moves.moves[moves.count++] = next;
  }
  return moves;
}

NodeMask named_nodes(const MemoryPolicy& policy, NodeMask told) noexcept {
  const bool is_one = (policy.mode & ~MPOL_MODE_FLAGS) == MPOL_PREFERRED;
  return is_one ? told & (~told + 1) : told;
}

NodeMask named_nodes(const MemoryPolicy& policy, const Nodes& nodes) noexcept {
  const NodeMask all = nodes.all(), asked = policy.nodes & all;
  const NodeMask real = asked & ~nodes.emulated;
  const bool is_one = (policy.mode & ~MPOL_MODE_FLAGS) == MPOL_PREFERRED;
  return named_nodes(policy, is_one && real != 0 ? real : asked);
}

}  // namespace nvmemu
