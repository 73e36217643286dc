// SPDX-License-Identifier: Apache-2.0
// A flow's set of files: what each is called, how long it is, whether it exists at the start, and whose it
// is. All of it follows from the parameters, the seed among them; nothing is read or written here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage_bench/flow.h"

namespace nvmemu::storage_bench {

// Sizes are of a gamma distribution of shape 1.5, as Filebench's are: with a of an exponential and b of half
// a chi-squared distribution of one degree of freedom, mean / 1.5 (a + b), at least one byte. File i has the
// i-th draw of stream 0 of the seed; streams 1, 2, ... are the threads'.
class DataSet {
 public:
  static constexpr const char* kLog = "log";

  DataSet(const Flow& flow, const Parameters& parameters);

  std::uint64_t files() const noexcept { return sizes_.size(); }
  std::uint64_t bytes_of(std::uint64_t file) const noexcept { return sizes_[file]; }
  bool exists_at_start(std::uint64_t file) const noexcept;

  // Below the set's folder: "d03/d17/f0000437".
  std::string path(std::uint64_t file) const;
  // All that path() needs, each after the one that it is in.
  std::vector<std::string> folders() const;

  // Those that thread number `thread` works on. Where the flow creates or deletes files, each thread has its
  // own: what it finds does then not depend on how far the others are, so that its operations are the same
  // in each run, and it always finds one. Every so many-th file, so that threads meet in the same folders.
  std::vector<std::uint32_t> files_of(unsigned thread) const;

  std::uint64_t files_at_start() const noexcept;
  std::uint64_t bytes_at_start() const noexcept;

 private:
  bool shared_;
  unsigned present_percent_;
  unsigned threads_;
  std::uint64_t width_;
  unsigned depth_;  // folders above a file
  std::vector<std::uint64_t> sizes_;
};

}  // namespace nvmemu::storage_bench
