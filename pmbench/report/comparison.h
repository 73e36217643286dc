// SPDX-License-Identifier: Apache-2.0
// Runs side by side, and those that are repetitions of one another together.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/statistics.h"
#include "report/figures.h"

namespace nvmemu::pmbench {

struct NamedRun {
  std::string file;
  std::size_t group = 0;  // its place in Comparison::groups
  RunView view;
};

// Runs of the same parameters on the same machine whose files lie in the same folder: what the folders differ
// in (a swap device, say) is not in the files.
struct Group {
  std::string label;  // what it differs from the others in
  std::vector<std::size_t> runs;
  std::vector<Estimate> estimates;  // as figures(); of the runs that have the figure
  LatencyCounts reads, writes;      // of all its runs together, bucket by bucket
  bool from_bands = false;          // some of it

  double average(std::uint64_t count) const {
    return static_cast<double>(count) / static_cast<double>(runs.size());
  }
};

struct Comparison {
  std::vector<NamedRun> runs;
  std::vector<Group> groups;
  std::optional<double> medium_ns;
  std::string medium_from;  // where that is known from, in words
};

// The run in that file, whether XML or JSON.
Result<RunResult> read_run(const std::string& file);

Result<Comparison> compare(const std::vector<std::string>& files, std::optional<double> medium_ns);

}  // namespace nvmemu::pmbench
