// SPDX-License-Identifier: Apache-2.0
// What a program is told in place of a file of the kernel's: memory that has a descriptor, written piece by
// piece. Async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace nvmemu::preload {

class ToldFile {
 public:
  // `name`: for /proc/PID/fd. `flags`: of open(2), of which O_CLOEXEC counts.
  ToldFile(const char* name, int flags) noexcept;

  void add(std::string_view text) noexcept;
  // The descriptor, at its beginning; -1 where not all of it could be written.
  int finish() noexcept;

 private:
  void write() noexcept;

  long fd_;
  std::array<char, 4096> piece_;  // filled as far as it is written
  std::size_t size_ = 0, written_ = 0;
  bool is_whole_ = true;
};

}  // namespace nvmemu::preload
