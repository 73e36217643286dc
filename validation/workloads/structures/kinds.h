// SPDX-License-Identifier: Apache-2.0
// What makes each kind of structure: one file each.
#pragma once

#include <memory>

#include "workloads/structures/structure.h"

namespace nvmemu::workloads {

Result<std::unique_ptr<Structure>> create_b_tree(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_bfs(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_binary_tree(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_counted_list(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_counters(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_gather(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_hash_chains(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_list(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_matrix_vector(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_merge_sort(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_page_rank(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_persist(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_random_walk(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_skip_list(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_stores(const StructureMemory& memory);
Result<std::unique_ptr<Structure>> create_union_find(const StructureMemory& memory);

}  // namespace nvmemu::workloads
