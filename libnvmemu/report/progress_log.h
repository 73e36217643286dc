// SPDX-License-Identifier: Apache-2.0
// A number of the program's that grows as it gets on, as someone who looks at it now and then has seen it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "report/run_report.h"

namespace nvmemu {

// The first number in `text`, such as 1500 of "done: 1500 of 9000", or 1.5e3: from its first digit on.
// Nothing: there is none, or one above kMostProgress.
inline constexpr double kMostProgress = 1e15;
std::optional<double> first_number(std::string_view text);

class ProgressLog {
 public:
  // At `ns`, later than any before, it was `value`. Where it is lower than the last, whoever counts has begun
  // anew: counted on from there.
  void see(std::uint64_t ns, double value);

  // What was done until `ns` since the first was seen: between two changes as much in every ns.
  double done_at(std::uint64_t ns) const;

  // Whether a number was seen at all, and how often another than before.
  bool has_seen() const { return !changes_.empty(); }
  std::size_t changes() const { return changes_.empty() ? 0 : changes_.size() - 1; }

 private:
  struct Change {
    std::uint64_t ns;
    double done;
  };
  std::vector<Change> changes_;  // the first sight of it, too
  double last_value_ = 0;
};

// What the windows' progress is by `log`, instead of what the program told itself, and by how much slower it
// was then. `start_ns`: when the run began, by the clock of the log.
void take_progress_from(const ProgressLog& log, std::uint64_t start_ns, AlternationReport& alternation);

}  // namespace nvmemu
