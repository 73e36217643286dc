// SPDX-License-Identifier: Apache-2.0
#include "tier/memory_policy.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>

#include <vector>

namespace nvmemu {
namespace {

constexpr int kWeightedInterleave = 6;

// Nodes 0 and 1 are the machine's, 2 and 5 tiers 3 and 1.
class MemoryPolicyTest : public testing::Test {
 protected:
  MemoryPolicyTest() {
    nodes_.real = 0b11;
    nodes_.add(2, 3);
    nodes_.add(5, 1);
  }
  TierPattern of(int mode, NodeMask nodes) const {
    return pattern_of({.mode = mode, .nodes = nodes}, nodes_);
  }
  std::vector<TierId> first_pages(const TierPattern& pattern) const {
    std::vector<TierId> tiers;
    for (std::uintptr_t page = 0; page < 6; ++page) tiers.push_back(pattern.of(page * nodes_.page_bytes + 8));
    return tiers;
  }

  Nodes nodes_;
};

using Moves = std::vector<NodeMove>;

Moves moves(NodeMask from, NodeMask to) {
  const NodeMoves between = moves_between(from, to);
  return {between.begin(), between.end()};
}

TEST(NodeMoves, EachNodesPagesGoToItsPartner) {
  EXPECT_EQ(moves(0b1, 0b10), (Moves{{0, 1}}));
  EXPECT_EQ(moves(0b101, 0b1010), (Moves{{0, 1}, {2, 3}}));
  EXPECT_EQ(moves(0b111, 0b11000), (Moves{{0, 3}, {1, 4}, {2, 3}}));
  EXPECT_EQ(moves(std::uint64_t{1} << 63, 0b1), (Moves{{63, 0}}));
}

TEST(NodeMoves, NoPageMovesTwice) { EXPECT_EQ(moves(0b0111, 0b1110), (Moves{{2, 3}, {1, 2}, {0, 1}})); }

TEST(NodeMoves, NodesThatAreInBothKeepTheirs) {
  EXPECT_EQ(moves(0b11, 0b11), Moves{});
  EXPECT_EQ(moves(0b11, 0b10), (Moves{{0, 1}}));
  EXPECT_EQ(moves(0b1, 0b11), Moves{});
  EXPECT_EQ(moves(0b11, 0), Moves{});
  EXPECT_EQ(moves(0, 0b11), Moves{});
}

// Nodes 0 and 1 are nearer than 2 and 5.
TEST_F(MemoryPolicyTest, WhatPrefersNodesNamesOne) {
  const auto named = [&](int mode, NodeMask asked) {
    return named_nodes({.mode = mode, .nodes = asked}, nodes_);
  };
  EXPECT_EQ(named(MPOL_PREFERRED, 0b100'100), 0b100U);
  EXPECT_EQ(named(MPOL_PREFERRED, 0b100'110), 0b10U);
  EXPECT_EQ(named(MPOL_BIND, 0b100'110), 0b100'110U);
  EXPECT_EQ(named(MPOL_BIND | MPOL_F_STATIC_NODES, 0b1'100'100), 0b100'100U);  // there is no node 6
  EXPECT_EQ(named_nodes({.mode = MPOL_PREFERRED | MPOL_F_STATIC_NODES, .nodes = 0b100}, 0b11), 0b1U);
  EXPECT_EQ(named_nodes({.mode = MPOL_INTERLEAVE, .nodes = 0b100}, 0b11), 0b11U);
}

TEST_F(MemoryPolicyTest, WhatNamesNoEmulatedNodeIsTheMachines) {
  for (const int mode : {MPOL_DEFAULT, MPOL_PREFERRED, MPOL_BIND, MPOL_INTERLEAVE, MPOL_LOCAL})
    EXPECT_EQ(of(mode, 0b11), TierPattern{}) << mode;
  EXPECT_EQ(of(MPOL_DEFAULT, 0), TierPattern{});
  EXPECT_EQ(of(MPOL_PREFERRED, 0), TierPattern{});
}

TEST_F(MemoryPolicyTest, BindsAndPrefers) {
  for (const int mode :
       {int{MPOL_PREFERRED}, int{MPOL_BIND}, int{MPOL_PREFERRED_MANY}, MPOL_BIND | MPOL_F_STATIC_NODES}) {
    EXPECT_EQ(of(mode, 0b100), TierPattern::all_of(3)) << mode;
    EXPECT_EQ(of(mode, 0b100000), TierPattern::all_of(1)) << mode;
  }
}

TEST_F(MemoryPolicyTest, OfSeveralNodesTheMachinesIsNearer) {
  EXPECT_EQ(of(MPOL_BIND, 0b101), TierPattern{});
  EXPECT_EQ(of(MPOL_BIND, 0b100100), TierPattern::all_of(3));  // then by their numbers
}

TEST_F(MemoryPolicyTest, InterleavesOverItsNodesInTurn) {
  EXPECT_EQ(first_pages(of(MPOL_INTERLEAVE, 0b101)), (std::vector<TierId>{0, 3, 0, 3, 0, 3}));
  EXPECT_EQ(first_pages(of(MPOL_INTERLEAVE, 0b111)), (std::vector<TierId>{0, 0, 3, 0, 0, 3}));
  EXPECT_EQ(first_pages(of(kWeightedInterleave, 0b100101)), (std::vector<TierId>{0, 3, 1, 0, 3, 1}));
  EXPECT_EQ(of(MPOL_INTERLEAVE, 0b100), TierPattern::all_of(3));
}

TEST_F(MemoryPolicyTest, HugePagesAreInterleavedAsAWhole) {
  nodes_.page_bytes = 2 << 20;
  const TierPattern pattern = of(MPOL_INTERLEAVE, 0b101);
  EXPECT_EQ(pattern.of((2 << 20) - 1), 0);
  EXPECT_EQ(pattern.of(2 << 20), 3);
}

TEST_F(MemoryPolicyTest, NodesThatAreNotThereAreNone) {
  EXPECT_EQ(of(MPOL_INTERLEAVE, 0b1000), TierPattern{});
  EXPECT_EQ(of(MPOL_BIND, 0b1000), TierPattern{});
}

TEST_F(MemoryPolicyTest, TheKernelIsToldOfItsOwnNodes) {
  EXPECT_EQ(real_nodes_of(0b101, nodes_), 0b1U);
  EXPECT_EQ(real_nodes_of(0b100, nodes_), 0b11U);
  EXPECT_EQ(real_nodes_of(0b110, nodes_), 0b10U);
}

}  // namespace
}  // namespace nvmemu
