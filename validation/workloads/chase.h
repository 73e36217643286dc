// SPDX-License-Identifier: Apache-2.0
// The pointer chase: what memory latency is measured with.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/line_cycle.h"

namespace nvmemu::workloads {

constexpr unsigned kMaxChains = 16;

// Where the chains are, and the value that the work beside them has come to.
struct ChaseState {
  std::vector<const Line*> at;  // 1 to kMaxChains
  std::uint64_t worked = 1;
};

// Makes `steps` steps. In each, every chain makes one load, which depends on its own last one but not on the
// other chains', so that a step's misses overlap; and `work` multiplications are made one after another on a
// value of its own, which depends on no load, so that they overlap with the misses too.
void chase(ChaseState& state, std::uint64_t steps, std::uint32_t work = 0) noexcept;

// Depends on the order of the lines, the steps made and the work done; not on addresses.
std::uint64_t checksum(const LineCycle& cycle, const ChaseState& state);

}  // namespace nvmemu::workloads
