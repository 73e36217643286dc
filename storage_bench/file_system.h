// SPDX-License-Identifier: Apache-2.0
// What a directory lies on, and whether a set of files fits there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "storage_bench/data_set.h"

namespace nvmemu::storage_bench {

struct FileSystem {
  std::string type;  // "ext4", or the number of one that is not known: "0x1234"
  std::uint64_t free_bytes = 0;
  std::optional<std::uint64_t> free_inodes;  // nothing: it makes them as they are needed
};

Result<FileSystem> read_file_system(const std::string& directory);

// An error says how much there is and how much it would take.
Result<void> check_room(const DataSet& set, const FileSystem& system, const std::string& directory);

}  // namespace nvmemu::storage_bench
