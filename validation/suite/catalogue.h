// SPDX-License-Identifier: Apache-2.0
// The experiments, as data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "suite/experiment.h"
#include "suite/numa.h"

namespace nvmemu::suite {

enum class Extent : std::uint8_t { kQuick, kUsual, kFull };

// `base_ns`: this machine's latency, by which amounts of work and the least target are chosen. `cache_bytes`:
// a set that the last-level cache holds and the next inner one does not.
struct Machine {
  double base_ns = 0;
  double cache_ns = 0;
  std::uint64_t cache_bytes = 0;
  unsigned cpus = 1;
  Result<NodePair> nodes = failure("not looked for");
  std::optional<NodeLatencies> node_latencies = {};  // nothing: they are measured
  std::uint64_t set_bytes = 0;                       // of sets in memory; 0: as the extent has it
};

struct Plan {
  std::vector<Experiment> experiments;
  unsigned rounds = 1;   // emulated runs of each row, at least
  unsigned repeats = 0;  // and at most so many more in place of disturbed ones
  // Repeats that would not be over by then are left out, seconds since the beginning; 0: none are.
  double most_seconds = 0;
};

// Which workloads: the most telling ones are enough for kQuick, but what is named is to be found.
enum class Choice : std::uint8_t { kOfExtent, kAll };

// Of all truths. Numa is one experiment, to be skipped, where there is no second node.
Plan plan(Extent extent, const Machine& machine, Choice choice = Choice::kOfExtent);

// `words`, in both configurations of numa.
Experiment command_on_nodes(const std::vector<std::string>& words);

// The chases that latencies are measured with: of a node's memory; and of the cache, with one of memory for
// the truth.
Experiment latency_chase(const Machine& machine);
Experiment cached_chase(const Machine& machine);

}  // namespace nvmemu::suite
