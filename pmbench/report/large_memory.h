// SPDX-License-Identifier: Apache-2.0
// What `pmbench vma`, `touch` and `kswapd` wrote, side by side.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/plots.h"

namespace nvmemu::pmbench {

struct LargeMemoryReport {
  std::string text, csv;
  std::vector<Plot> plots;
};

// Nothing where the first file is of another schema than theirs. An error names the file that cannot be read,
// or is not of the same schema as the first.
Result<std::optional<LargeMemoryReport>> report_large_memory(const std::vector<std::string>& files);

// A result with the name of its file.
template <typename T>
struct Named {
  std::string file;
  T result;
};

// For a line of a table or a legend: the file where there are several, then what it is of.
template <typename T>
std::string label_of(const std::vector<Named<T>>& all, const Named<T>& one, const std::string& what) {
  return all.size() > 1 ? one.file + ": " + what : what;
}

}  // namespace nvmemu::pmbench
