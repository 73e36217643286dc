// SPDX-License-Identifier: Apache-2.0
#include "host/memory_nodes.h"

#include "base/read_file.h"
#include "host/cpu_text.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kBits = 64;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

}  // namespace

std::uint64_t mask_of_list(std::string_view list) {
  std::uint64_t mask = 0;
  for_each_range_in(list, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t bit = first; bit <= last && bit < kBits; ++bit) mask |= std::uint64_t{1} << bit;
  });
  return mask;
}

std::string list_of_mask(std::uint64_t mask) {
  std::string list;
  for_each_run_of_bits(mask, [&](int first, int last) {
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (last > first) list += '-' + std::to_string(last);
  });
  return list;
}

MemoryNodes read_memory_nodes(const std::string& root) {
  MemoryNodes nodes;
  if (const std::uint64_t online =
          mask_of_list(read_text_or_nothing(root + "/sys/devices/system/node/online")))
    nodes.online = online;
  nodes.bytes = leading_size(value_of(read_text_or_nothing(root + "/proc/meminfo"), "MemTotal")).value_or(0);
  const std::string huge = read_text_or_nothing(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  if (huge.find("[always]") != std::string::npos) nodes.page_bytes = kHugePageBytes;
  return nodes;
}

}  // namespace nvmemu
