// SPDX-License-Identifier: Apache-2.0
// The experiments, as data.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/experiment.h"

namespace nvmemu::suite {

enum class Extent : std::uint8_t { kQuick, kUsual, kFull };

// `base_ns`: this machine's latency, by which amounts of work and the least target are chosen. `cache_bytes`:
// a set that the last-level cache holds and the next inner one does not.
struct Machine {
  double base_ns = 0;
  double cache_ns = 0;
  std::uint64_t cache_bytes = 0;
  unsigned cpus = 1;
};

struct Plan {
  std::vector<Experiment> experiments;
  unsigned rounds = 1;   // emulated runs of each row, at least
  unsigned repeats = 0;  // and at most so many more in place of disturbed ones
};

// Of all truths but numa, which needs measuring first.
Plan plan(Extent extent, const Machine& machine);

// Every program of the catalogue once, for a truth that gives the target.
std::vector<Experiment> programs_for_numa(Extent extent, const Machine& machine);

}  // namespace nvmemu::suite
