// SPDX-License-Identifier: Apache-2.0
// Which node a process' memory is on: asked of the kernel while it runs, because a binding that was asked for
// is not yet one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"

namespace nvmemu::suite {

// Pages of a process, by the node that they are on.
using PagesByNode = std::map<int, std::uint64_t>;

// Of its private, writable memory, and of its descendants': of each mapping some `most` pages, evenly spread,
// each of which counts for those up to the next. Empty where it has ended, or may not be asked. By
// move_pages(2), which moves nothing when it is given no nodes.
PagesByNode pages_of(pid_t pid, std::size_t most = 256);

// Looks at a process from time to time, and keeps the look that saw most.
class PageCensus {
 public:
  void look(pid_t pid);
  void add(const PagesByNode& pages);
  // Which share of what was seen is on `node`. An error where that is further than a twentieth from what it
  // shall be (0 to 1), or nothing was seen.
  Result<double> check(int node, double expected = 1) const;

 private:
  PagesByNode most_;
  std::uint64_t count_ = 0;
  unsigned looks_ = 0;
};

}  // namespace nvmemu::suite
