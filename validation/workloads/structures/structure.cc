// SPDX-License-Identifier: Apache-2.0
#include "workloads/structures/structure.h"

#include <algorithm>
#include <array>

#include "workloads/structures/kinds.h"

namespace nvmemu::workloads {
namespace {

using enum Accesses;

constexpr auto kKinds = std::to_array<StructureKind>({
    {"list", "steps along a linked list", kDependent, 4'500'000, &create_list},
    {"binary-tree", "look-ups in a binary search tree", kDependent, 500'000, &create_binary_tree},
    {"b-tree", "look-ups in a B+-tree of nodes of a line", kDependent, 1'500'000, &create_b_tree},
    {"hash-chains", "look-ups in a hash table with chains", kDependent, 1'500'000, &create_hash_chains},
    {"skip-list", "look-ups in a skip list", kDependent, 300'000, &create_skip_list},
    {"random-walk", "steps of a random walk on a graph", kDependent, 2'200'000, &create_random_walk},
    {"union-find", "finds in disjoint sets, which are then united", kDependent, 400'000, &create_union_find},
    {"persist", "nodes of a list, each changed and made durable", kDependent, 4'500'000, &create_persist},
    {"stores", "lines written, each with a fence behind it", kDependent, 4'500'000, &create_stores},
    {"counted-list", "steps along a list, each counted by a locked instruction", kDependent, 4'500'000,
     &create_counted_list},
    {"counters", "counters added to by locked instructions", kOverlapping, 15'000'000, &create_counters},
    {"gather", "values picked by a list of indices", kOverlapping, 80'000'000, &create_gather},
    {"bfs", "edges of a breadth-first search, which are in the tier `edges` where there is one", kOverlapping,
     20'000'000, &create_bfs},
    {"page-rank", "edges of PageRank, likewise", kOverlapping, 80'000'000, &create_page_rank},
    {"merge-sort", "numbers moved by a merge sort", kOverlapping, 100'000'000, &create_merge_sort},
    {"matrix-vector", "elements of a matrix times a vector", kOverlapping, 500'000'000,
     &create_matrix_vector},
});

}  // namespace

const std::span<const StructureKind> kStructures(kKinds);

const StructureKind* find_structure(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &StructureKind::name);
  return found == kKinds.end() ? nullptr : &*found;
}

}  // namespace nvmemu::workloads
