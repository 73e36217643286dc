// SPDX-License-Identifier: Apache-2.0
// One thread of a flow: its files, what it has open, and what its operations took.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "measure/histogram.h"
#include "pattern/rng.h"
#include "storage_bench/data_set.h"
#include "storage_bench/file_pool.h"
#include "storage_bench/flow.h"

namespace nvmemu::storage_bench {

struct OperationTally {
  pmbench::LatencyCounts latencies;
  std::uint64_t bytes = 0;  // read or written
};

// Every operation is the system calls that its name says, and no others are made in it. They alone are
// timed, by CLOCK_MONOTONIC_RAW: from before the first to after the last. Picking a file is not.
class FlowThread {
 public:
  // `set` and `flow` must outlive it, `folder` hold the set's files. Thread `index` draws from the seed's
  // stream index + 1.
  FlowThread(const Flow& flow, const Parameters& parameters, const DataSet& set, std::string folder,
             unsigned index);

  // The flow's next operation; after its last comes its first.
  Result<void> step();

  // One for each of the flow's operations.
  const std::vector<OperationTally>& tallies() const noexcept { return tallies_; }

 private:
  Result<void> perform(Action action);
  Result<void> open_file(std::uint64_t file, int flags);
  Result<void> append(std::uint64_t bytes, const Descriptor& file, const std::string& path);
  Result<void> log();
  Result<void> close_file();
  Result<void> write_whole();
  void name(std::uint64_t file);
  std::uint64_t append_bytes() { return 1 + random_.below(append_bytes_); }

  // `call` returns how many bytes it moved, or -1.
  template <typename Call>
  Result<void> timed(std::string_view verb, const std::string& path, const Call& call);

  const Flow& flow_;
  const DataSet& set_;
  std::string folder_;
  std::uint64_t io_bytes_, append_bytes_;
  FilePool pool_;
  pmbench::Rng random_;
  std::vector<char> buffer_;
  std::vector<OperationTally> tallies_;
  std::size_t next_ = 0;
  OperationTally* tally_ = nullptr;  // of the operation that is under way
  Descriptor file_, log_;
  std::string path_;  // of `file_`, or what is deleted or looked at
  std::uint64_t number_ = 0;
};

}  // namespace nvmemu::storage_bench
