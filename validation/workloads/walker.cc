// SPDX-License-Identifier: Apache-2.0
#include "workloads/walker.h"

#include <utility>

namespace nvmemu::workloads {

Result<std::vector<Walker>> create_walkers(unsigned count, const WalkerMemory& memory) {
  std::vector<Walker> walkers;
  walkers.reserve(count);
  for (unsigned index = 0; index < count; ++index) {
    auto cycle = LineCycle::create(memory.size_bytes, memory.page_size, memory.seed + index, 1);
    if (!cycle) return tl::unexpected<Error>(cycle.error());
    walkers.emplace_back(std::move(*cycle));
  }
  return walkers;
}

std::uint64_t checksum(std::span<const Walker> walkers) {
  std::uint64_t sum = 0;
  for (const Walker& walker : walkers) sum = sum * 31 + walker.checksum();
  return sum;
}

}  // namespace nvmemu::workloads
