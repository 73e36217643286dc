// SPDX-License-Identifier: Apache-2.0
// The counts of a record by thread, for a run that is to be given them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/record/record_reader.h"

namespace nvmemu {

class Replay {
 public:
  explicit Replay(const Record& record);
  static Result<Replay> load(const std::string& path);

  // The epochs of the thread that was the `number`th to begin, in their order; none where there was none.
  // Async-signal-safe.
  std::span<const EpochCounts> of_thread(std::uint32_t number) const noexcept;

  CountSet counts() const noexcept { return counts_; }

 private:
  struct Run {
    std::size_t begin = 0, count = 0;
  };
  CountSet counts_;
  std::vector<Run> threads_;
  std::vector<EpochCounts> epochs_;  // thread by thread
};

}  // namespace nvmemu
