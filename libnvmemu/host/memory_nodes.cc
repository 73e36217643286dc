// SPDX-License-Identifier: Apache-2.0
#include "host/memory_nodes.h"

#include <algorithm>
#include <charconv>

#include "base/read_file.h"
#include "host/cpu_text.h"

namespace nvmemu {
namespace {

constexpr std::uint64_t kBits = 64;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// The number that the text begins with, which it leaves behind it; 64 where there is none.
std::uint64_t take_number(std::string_view& text) {
  std::uint64_t number = kBits;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return kBits;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::uint64_t mask_of_list(std::string_view list) {
  std::uint64_t mask = 0;
  while (!list.empty()) {
    std::string_view range = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), range.size() + 1));
    const std::uint64_t first = take_number(range);
    const bool has_last = range.starts_with('-');
    if (has_last) range.remove_prefix(1);
    const std::uint64_t last = has_last ? take_number(range) : first;
    for (std::uint64_t bit = first; bit <= last && bit < kBits; ++bit) mask |= std::uint64_t{1} << bit;
  }
  return mask;
}

std::string list_of_mask(std::uint64_t mask) {
  std::string list;
  for (std::uint64_t bit = 0; bit < kBits; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    const std::uint64_t first = bit;
    while (bit + 1 < kBits && (mask >> (bit + 1) & 1) != 0) ++bit;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (bit > first) list += '-' + std::to_string(bit);
  }
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
