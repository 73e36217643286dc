// SPDX-License-Identifier: Apache-2.0
// Fields that the results of several subcommands have; see json_fields.h.
#pragma once

#include "output/json_fields.h"
#include "system/memory_management.h"

namespace nvmemu::pmbench {

template <typename Archive, Is<MemoryManagement> T>
void fields(Archive& archive, T& management) {
  archive("area_tree", management.area_tree);
  archive("area_locks", management.area_locks);
  archive("lru", management.lru);
  archive("huge_pages", management.huge_pages);
  archive("max_map_count", management.max_map_count);
  archive("memory_bytes", management.memory_bytes);
  archive("available_bytes", management.available_bytes);
  archive("swap_bytes", management.swap_bytes);
  archive("swap_free_bytes", management.swap_free_bytes);
}

}  // namespace nvmemu::pmbench
