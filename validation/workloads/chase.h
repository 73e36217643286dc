// SPDX-License-Identifier: Apache-2.0
// The pointer chase: what memory latency is measured with.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/line_cycle.h"

namespace nvmemu::workloads {

constexpr unsigned kMaxChains = 16;

// What is computed beside the loads of a step, by one kind of operation: each depends on the one before, none
// on a load. A multiplication (with an addition) takes some 4 cycles, and as many entries of the out-of-order
// window as instructions; a division some 13, so that few of them last as long as a miss. Of kBetweenLoads,
// which is for one chain, the first depends on the step's load, and the next step's load on the last: a step
// takes what both take together.
struct Work {
  enum class Kind : std::uint8_t { kNone, kMultiplications, kDivisions, kBetweenLoads };
  Kind kind = Kind::kNone;
  std::uint32_t operations = 0;  // a step
};

// Where the chains are, and the values that the work beside them has come to.
struct ChaseState {
  std::vector<const Line*> at;  // 1 to kMaxChains
  std::uint64_t worked = 1;
  double divided = 1.25;
};

// Makes `steps` steps. In each, every chain makes one load, which depends on its own last one but not on the
// other chains', so that a step's misses overlap; and `work` is done, which overlaps with the misses too.
void chase(ChaseState& state, std::uint64_t steps, Work work = {}) noexcept;

// Depends on the order of the lines, the steps made and the work done; not on addresses.
std::uint64_t checksum(const LineCycle& cycle, const ChaseState& state);

}  // namespace nvmemu::workloads
