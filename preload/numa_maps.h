// SPDX-License-Identifier: Apache-2.0
// /proc/PID/numa_maps, in which the kernel tells on which nodes a process' pages are, with the emulated ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "emulated_nodes.h"
#include "numa_maps_line.h"
#include "placement_of.h"
#include "walk/mappings.h"

namespace nvmemu::preload {

// What it says, read at once.
class NumaMaps {
 public:
  explicit NumaMaps(long pid) noexcept;
  ~NumaMaps();
  NumaMaps(const NumaMaps&) = delete;
  NumaMaps& operator=(const NumaMaps&) = delete;

  bool is_read() const noexcept { return size_ != 0; }

  // `use(line, end)` for each line, without its end; `end`: of the mapping, which the file does not say, or 0
  // where it is not known.
  template <typename Use>
  void for_each(const Use& use) const noexcept {
    std::string_view left(text_, size_);
    const auto take = [&](std::uintptr_t end) {
      const std::string_view line = left.substr(0, left.find('\n'));
      use(line, end);
      left.remove_prefix(line.size() < left.size() ? line.size() + 1 : line.size());
    };
    const auto match = [&](const Mapping& mapping) {
      while (!left.empty() && address_of_line(left) < mapping.range.begin) take(0);
      if (!left.empty() && address_of_line(left) == mapping.range.begin) take(mapping.range.end);
    };
    for_each_mapping(match, FileOfProc(pid_, "/maps").c_str());
    while (!left.empty()) take(0);
  }

 private:
  static std::uintptr_t address_of_line(std::string_view text) noexcept;
  bool grow() noexcept;

  const long pid_;
  char* text_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

// Of which process `path` names it; nothing where it is something else.
std::optional<long> process_of_numa_maps(std::string_view path) noexcept;

// A descriptor of memory that holds it; -1 where that cannot be had.
int open_numa_maps(const PlacementOf& whose, int flags, const EmulatedNodes& nodes) noexcept;

}  // namespace nvmemu::preload
