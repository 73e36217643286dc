// SPDX-License-Identifier: Apache-2.0
// Whole reads and writes by POSIX calls that may do less than they were asked for.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace nvmemu::storage_bench {

// The first `bytes` (<= content.size()) of `content`, at the file's position. Returns how many, or -1 with
// the reason in errno: never fewer.
ssize_t write_bytes(int fd, const std::vector<char>& content, std::uint64_t bytes) noexcept;

// From the file's position to its end, through `buffer`, which must not be empty. Likewise.
ssize_t read_to_end(int fd, std::vector<char>& buffer) noexcept;

}  // namespace nvmemu::storage_bench
