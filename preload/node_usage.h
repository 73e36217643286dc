// SPDX-License-Identifier: Apache-2.0
// How much memory the run's processes have on emulated nodes, and have had there: what the kernel tells of
// its own nodes in /sys/devices/system/node/nodeN/meminfo and numastat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "emulated_nodes.h"

namespace nvmemu::preload {

// `path`, below the folder of nodes ("/node1/meminfo"), of an emulated one: a descriptor of memory with what
// it says now. -1: of another file, or where that cannot be had. Some 20 ms for each GiB that is there. Not
// for signal handlers.
int open_node_counts(std::string_view path, int flags, const EmulatedNodes& nodes) noexcept;

// The process is about to give these back, which are below 2^47. Some 20 ms for each GiB of them on emulated
// nodes, else some ns. Async-signal-safe, as the next.
void note_given_back(const EmulatedNodes& nodes, std::uintptr_t address, std::size_t bytes) noexcept;

// The process ends: what it has had there is the run's to count from now on. Once in a process.
void note_end(const EmulatedNodes& nodes) noexcept;

}  // namespace nvmemu::preload
