// SPDX-License-Identifier: Apache-2.0
// Which of a thread's files exist, and picking one at random. One thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "pattern/rng.h"
#include "storage_bench/data_set.h"

namespace nvmemu::storage_bench {

// Filebench's threads pick from one set, and a run ends, without a result, where a thread finds no file of
// the kind that it looks for. Here each has a set of its own, at least kLeastFilesOfThread, of which as many
// are deleted as are created: there is always one to pick.
class FilePool {
 public:
  FilePool(const DataSet& set, unsigned thread) : files_(set.files_of(thread)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (set.exists_at_start(files_[i])) std::swap(files_[i], files_[present_++]);
    }
  }

  std::size_t present() const noexcept { return present_; }
  std::size_t absent() const noexcept { return files_.size() - present_; }

  // One that exists; present() must not be 0.
  std::uint64_t pick(pmbench::Rng& random) const { return files_[random.below(present_)]; }

  // The same, which does not exist from then on.
  std::uint64_t take(pmbench::Rng& random) {
    std::swap(files_[random.below(present_)], files_[present_ - 1]);
    return files_[--present_];
  }

  // One that does not exist, and does from then on; absent() must not be 0.
  std::uint64_t add(pmbench::Rng& random) {
    std::swap(files_[present_ + random.below(absent())], files_[present_]);
    return files_[present_++];
  }

 private:
  std::vector<std::uint32_t> files_;  // the first `present_` exist
  std::size_t present_ = 0;
};

}  // namespace nvmemu::storage_bench
