// SPDX-License-Identifier: Apache-2.0
// The machine's NUMA nodes. Read from /sys under `root`, so that tests can say what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nvmemu {

struct MemoryNodes {
  std::uint64_t online = 1;       // a bit for each of the nodes 0 to 63
  std::uint64_t bytes = 0;        // of memory, on all
  std::size_t page_bytes = 4096;  // of memory that a program maps without more ado: what is interleaved
};

MemoryNodes read_memory_nodes(const std::string& root = "");

// `use(first, last)` for each run of bits that are set.
template <typename Use>
void for_each_run_of_bits(std::uint64_t mask, const Use& use) {
  constexpr int kBits = 64;
  for (int first = 0; first < kBits; ++first) {
    if ((mask >> first & 1) == 0) continue;
    int last = first;
    while (last + 1 < kBits && (mask >> (last + 1) & 1) != 0) ++last;
    use(first, last);
    first = last;
  }
}

// "0-1,3", as the kernel writes lists. What is beyond 63, or no number, is left out.
std::uint64_t mask_of_list(std::string_view list);
std::string list_of_mask(std::uint64_t mask);

}  // namespace nvmemu
