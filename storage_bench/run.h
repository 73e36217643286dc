// SPDX-License-Identifier: Apache-2.0
// A flow, from making its files to what its threads measured.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "storage_bench/data_set.h"
#include "storage_bench/flow.h"
#include "storage_bench/flow_thread.h"
#include "storage_bench/preparation.h"

namespace nvmemu::storage_bench {

struct FlowResult {
  const Flow* flow = nullptr;
  Parameters parameters;
  std::uint64_t files_at_start = 0;
  std::uint64_t bytes_at_start = 0;
  double preparing_seconds = 0;
  double seconds = 0;  // from the first thread's start to the last one's end
  bool interrupted = false;
  std::vector<OperationTally> operations;            // one for each of the flow's, all threads together
  std::vector<std::uint64_t> operations_of_threads;  // how many each made

  // Of all operations of that kind.
  OperationTally of(Action action) const noexcept;
  std::uint64_t count() const noexcept;
  std::uint64_t read_bytes() const noexcept;
  std::uint64_t written_bytes() const noexcept;
};

// In `folder`, which is empty, and holds the set's files afterwards. Returns when all threads are done: at
// the end of their time or rounds, where `stop` asked for it, or where an operation failed, which is an
// error.
Result<FlowResult> run_flow(const Flow& flow, const Parameters& parameters, const DataSet& set,
                            const std::string& folder, const StopAsked& stop);

}  // namespace nvmemu::storage_bench
