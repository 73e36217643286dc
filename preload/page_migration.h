// SPDX-License-Identifier: Apache-2.0
// All of a process's pages that lie on some nodes are moved to others (migrate_pages(2)).
#pragma once

#include "placement_of.h"
#include "tier/memory_policy.h"

namespace nvmemu::preload {

inline constexpr unsigned long kKernelBits =
    kMostNodes + 1;  // the kernel takes one bit less than it is told of

// How many could not be moved, or a negative error number. Pages that the kernel has never given stay where
// their policy says, as in the kernel.
long migrate_pages_of(PlacementOf& whose, const Nodes& nodes, NodeMask from, NodeMask to) noexcept;

}  // namespace nvmemu::preload
