// SPDX-License-Identifier: Apache-2.0
// The files in which the kernel tells which NUMA nodes a process may use, with more of them than it knows of:
// /proc/self/status, where libnuma asks, and control groups' cpuset.mems, where hwloc does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvmemu::preload {

// Whether `path` names such a file, of the calling process.
bool tells_allowed_nodes(std::string_view path) noexcept;

// A descriptor of memory that holds it, with `nodes` (a bit for each) allowed; -1 where that cannot be had.
int open_allowing(const char* path, int flags, std::uint64_t nodes) noexcept;

// What the file says, with them, written to `out` of `capacity` characters; how many are written, 0 where
// there is no room. Pure.
std::size_t allow_in_status(std::string_view status, std::uint64_t nodes, char* out,
                            std::size_t capacity) noexcept;
std::size_t allow_in_list(std::uint64_t nodes, char* out, std::size_t capacity) noexcept;

}  // namespace nvmemu::preload
