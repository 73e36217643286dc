// SPDX-License-Identifier: Apache-2.0
// Lines of /proc/PID/numa_maps: "7f0000000000 bind:0-1 anon=5 dirty=5 active=0 N0=4 N1=1
// kernelpagesize_kB=4". Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text_room.h"
#include "tier/memory_policy.h"

namespace nvmemu::preload {

struct NodePages {
  std::array<std::uint64_t, kMostNodes> pages{};

  std::uint64_t total() const noexcept;
  int only_node() const noexcept;  // that has pages; -1 where there are several, or none
  std::uint64_t& operator[](int node) noexcept { return pages[static_cast<std::size_t>(node)]; }
};

struct NumaMapsLine {
  std::string_view text;  // without the end of the line
  std::uintptr_t address = 0;
  std::string_view policy_nodes;  // of the text: "0-1"; empty where the policy names none
  std::string_view counts;        // "N0=4 N1=1"; empty where no page is there
  NodePages pages;                // what they say
  std::size_t page_bytes = 4096;
};

// Nothing where it is no such line, or has nodes beyond 63.
std::optional<NumaMapsLine> parse_numa_maps_line(std::string_view text) noexcept;

// The line with other counts and, where `nodes` has any, with these in its policy.
void write_numa_maps_line(const NumaMapsLine& line, const NodePages& pages, NodeMask nodes,
                          TextRoom& out) noexcept;

}  // namespace nvmemu::preload
