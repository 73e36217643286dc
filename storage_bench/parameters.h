// SPDX-License-Identifier: Apache-2.0
// How large a flow's set of files is, and how long and by how many threads the flow is run.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace nvmemu::storage_bench {

struct Parameters {
  std::uint64_t files = 0;  // that exist, or come to
  std::uint64_t mean_file_bytes = 0;
  std::uint64_t files_in_folder = 0;  // at most; folders likewise
  std::uint64_t io_bytes = 0;         // of one call that reads or writes a whole file, at most
  std::uint64_t append_bytes = 0;     // at most
  unsigned threads = 0;
  double seconds = 0;
  std::uint64_t rounds = 0;  // of each thread, instead of `seconds`; 0: by time
  std::uint64_t seed = 1;
};

// Each thread has at least so many files of its own: where 80 % exist, one does not and four do. A flow
// deletes as many as it creates, before or after it, so that it never comes to lack either.
inline constexpr std::uint64_t kLeastFilesOfThread = 5;

// Fewer would make a tree without end.
inline constexpr std::uint64_t kLeastFilesInFolder = 2;

// An error says which of them cannot be, and what could.
Result<void> check(const Parameters& parameters);

// Whether what a flow keeps in memory, buffers for the most part, fits into what is available.
Result<void> check_memory(const Parameters& parameters, std::uint64_t available_bytes);

}  // namespace nvmemu::storage_bench
