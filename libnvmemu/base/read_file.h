// SPDX-License-Identifier: Apache-2.0
// The one way in which nvmemu opens a file to read it. What a name stands for is looked at before: a pipe
// would be waited for, a device may never end or do something when it is opened, so only regular files are
// read (those of /proc and /sys are such), and no more of them than there can be sense in.
#pragma once

#include <cstddef>
#include <string>

#include "base/descriptor.h"
#include "base/result.h"

namespace nvmemu {

// Far above what each kind of file holds; what is longer is a mistake.
inline constexpr std::size_t kMostOfSmallFile = std::size_t{16} << 20;  // /proc/cpuinfo of 4096 processors
inline constexpr std::size_t kMostOfResults = std::size_t{256} << 20;
inline constexpr std::size_t kMostOfTrace = std::size_t{1} << 30;

// The regular file at `path`, open for reading; an error leaves the reason in errno too. Waits for nobody.
Result<Descriptor> open_regular_file(const std::string& path);

// All of it, at most `most_bytes` (EFBIG where there is more). "cannot read PATH: why".
Result<std::string> read_whole_file(const std::string& path, std::size_t most_bytes);

// Likewise; nothing where it cannot be read, for what the kernel may or may not show.
std::string read_text_or_nothing(const std::string& path);

// For what runs in the program, async-signal-safe and no cancellation points:

// A regular file, piece by piece.
class PieceReader {
 public:
  explicit PieceReader(const char* path) noexcept;
  ~PieceReader();
  PieceReader(const PieceReader&) = delete;
  PieceReader& operator=(const PieceReader&) = delete;

  // At most `capacity` bytes into `out`; how many, 0 at the end, below 0 where it cannot be read.
  long next(char* out, std::size_t capacity) noexcept;

 private:
  long fd_;
};

// The first bytes of it, at most `capacity`; how many.
std::size_t read_start_of(const char* path, char* out, std::size_t capacity) noexcept;

}  // namespace nvmemu
